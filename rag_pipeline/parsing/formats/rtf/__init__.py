"""Rich Text Format, read by its specification.

Nothing here is shared with other formats.
"""
