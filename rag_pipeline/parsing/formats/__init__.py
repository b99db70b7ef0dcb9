"""Every format but PDF: one reader each, all give the same elements, and these one frame."""
