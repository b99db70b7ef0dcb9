"""Relational sources: rows with all that belongs to them as chunks, and exact numbers by SQL."""
