"""What is stale and why, what a sync would do, and what it would cost. Pure but for reading.

Nothing here changes the store.
"""
