"""What `rag inspect` and `rag chunk` show of one file, on the terminal and as an HTML page.

Reads files, never the store; general command line output is in `console/`.
"""
