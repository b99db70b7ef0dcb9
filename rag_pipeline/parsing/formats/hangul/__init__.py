"""Hangul's files: HWPX, which is XML in a ZIP archive, and HWP 5, which is records in an OLE file.

Each has a reader of its own that makes the same content of it; one flow makes elements of that, so
that a document saved in either format gives the same blocks.
"""
