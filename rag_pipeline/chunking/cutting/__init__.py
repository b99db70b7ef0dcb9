"""A long text into parts within the budget: sentences, windows, ranges of a body.

Knows no strategy and no role of a block; what stays together is decided in `sections/`.
"""
