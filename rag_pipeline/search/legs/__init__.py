"""The legs of a search: what finds chunks and scores them, each on its own scale.

Putting the legs' results together is in `ranking/`.
"""
