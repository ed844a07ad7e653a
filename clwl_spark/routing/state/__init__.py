"""What a queue manager remembers, and the choice of its messages one after another."""
