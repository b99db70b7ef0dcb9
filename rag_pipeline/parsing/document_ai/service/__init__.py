"""Calling Document AI: requests, page ranges, batch jobs, stored replies, checks, errors.

What a reply means as blocks is in `convert/`.
"""
