"""Office packages as the libraries can read them: whole, and without wrappers around text."""
