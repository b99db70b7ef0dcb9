"""Pages that are pictures of text, read by Tesseract into the same words as native text.

OCR by a service is in `document_ai/`.
"""
