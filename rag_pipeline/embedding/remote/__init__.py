"""Embedding services: planning, sending and checking requests, and one client per provider.

Pacing and retries that every service shares are in `rag_pipeline/remote/`.
"""
