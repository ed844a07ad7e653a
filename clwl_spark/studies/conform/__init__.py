"""Predictions held against what was seen, and why they differ where they do."""
