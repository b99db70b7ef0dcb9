"""Blocks to structure: every block gets a role, a level and a breadcrumb trail, by rules."""
