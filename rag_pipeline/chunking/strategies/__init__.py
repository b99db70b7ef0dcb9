"""The chunking strategies: functions from a task to drafts, listed in `chunking.STRATEGIES`.

They share `sections/` and `cutting/`.
"""
