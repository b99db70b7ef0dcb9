"""What `rag inspect` and `rag chunk` show of one file, on the terminal and as an HTML page.

Reads files, never the store; general output of the command line is in `console/`.
"""
