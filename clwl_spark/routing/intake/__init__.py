"""Messages in: which are new, which are rejected, and the blocks that they travel in."""
