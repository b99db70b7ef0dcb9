"""Technical documents to a searchable Postgres knowledge base."""
