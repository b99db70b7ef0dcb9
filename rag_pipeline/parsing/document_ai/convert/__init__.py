"""Replies of Document AI into rows of the blocks frame. Pure.

Nothing here sends a request or reads a file.
"""
