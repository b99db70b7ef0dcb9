"""Structure to chunks."""
