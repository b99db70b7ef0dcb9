"""Where documents come from: folders, object stores, web pages, listed, fetched and hashed.

What is done with a file is in `documents/`.
"""
