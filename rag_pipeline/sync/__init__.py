"""Syncing: planning (pure) and carrying out the plan."""
