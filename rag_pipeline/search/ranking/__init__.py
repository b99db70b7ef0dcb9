"""From scores of the legs to the results shown: fusion, relevance, selection, pages, context.

Nothing here finds a chunk.
"""
