"""Tables of a page, drawn with rules or only aligned, as rows of cells with spans. Pure.

Tables of other formats come as tables and are not searched for.
"""
