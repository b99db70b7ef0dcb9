"""Files to blocks: one parser per format, all give the same frame."""
