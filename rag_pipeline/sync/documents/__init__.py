"""Doing the work of a plan: documents through the stages in workers, embedded and landed.

What is to be done is decided in `planning/`.
"""
