"""Word, PowerPoint and Excel files, through the libraries of the extra `office`.

OpenDocument and RTF need no library and are read beside this folder.
"""
