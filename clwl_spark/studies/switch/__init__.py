"""Transmission queues of channels, and the switch from one to another (SEMANTICS 7, seed 3)."""
