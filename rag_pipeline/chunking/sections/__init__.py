"""Body blocks to units and units to drafts: what belongs together and how it is packed.

`cutting/` cuts running text; each strategy chooses between the two.
"""
