"""Questions for numbers: words of a question into a computation, its SQL, and the answer.

Reading rows for chunks is in `rows/`; `interpretation/` holds the grammar.
"""
