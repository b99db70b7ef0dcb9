"""From the scores of the legs to the results: fusion, relevance, selection, pages, context.

No module here finds chunks.
"""
