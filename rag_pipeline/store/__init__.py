"""Postgres and the artifact store: schema, writes, reads."""
