"""What a database says of itself: tables, keys, joins, the tree of relations.

Reads no rows and no questions.
"""
