"""Words of a page into lines, columns, paragraphs and blocks in reading order. Pure.

Nothing here calls PDFium; tables are in `tables/`.
"""
