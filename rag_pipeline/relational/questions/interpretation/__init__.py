"""Questions for numbers, read against a schema."""
