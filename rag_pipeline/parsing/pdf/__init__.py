"""PDF files into the blocks frame: native text, layout, tables, OCR.

Other formats are in `formats/`, Document AI in `document_ai/`.
"""
