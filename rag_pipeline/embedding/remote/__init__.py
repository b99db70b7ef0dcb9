"""Embedding services: planning, sending and checking requests, and one client per provider.

Pacing, faults and retries, which all services share, are in `rag_pipeline/remote/`.
"""
