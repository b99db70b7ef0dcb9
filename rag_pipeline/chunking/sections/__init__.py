"""Body blocks into units and units into drafts: what belongs together and how it is packed.

Cutting running text is in `cutting/`; the choice between the two is a strategy's.
"""
