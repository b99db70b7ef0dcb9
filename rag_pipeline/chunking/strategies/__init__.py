"""The chunking strategies, one function from a task to drafts each.

What they share is not here: see `sections/` and `cutting/`. `STRATEGIES` in the package above
lists them.
"""
