"""Logical forms: what a question asks, its SQL, and a chat model that may write one."""
