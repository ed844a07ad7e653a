"""Failures one after the other: what moves, waits, or is lost."""
