"""Snapshots of the cluster: what each queue manager sees of them, and what changes between them."""
