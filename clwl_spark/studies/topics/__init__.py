"""Cluster topics: definitions that contradict one another, and what a design costs."""
