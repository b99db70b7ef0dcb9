"""Cutting running text into parts within the budget: sentences, windows, ranges of a body.

Independent of strategies and block roles; `sections/` decides what stays together.
"""
