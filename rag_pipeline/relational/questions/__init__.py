"""Questions for numbers: words of a question into a computation, its SQL, and the answer.

Reading rows for chunks is in `rows/`; `grammar/` reads questions, `forms/` holds the
logical form and its compiler.
"""
