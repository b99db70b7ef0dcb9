"""Everything that calls PDFium: words, graphics, fonts, bookmarks, tags, pictures of pages.

What the words mean together is decided in `layout/` and `tables/`.
"""
