"""Which blocks are headings, and at which level: numbering, contents pages, styles.

Lists, notes, tables and furniture are rules of the package above.
"""
