"""Exactly once: what runs have taken, written and lost, and one run at a time."""
