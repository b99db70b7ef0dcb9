"""Rows of a database with all that belongs to them, as text, as chunks, and kept in sync.

Nothing here reads a question.
"""
