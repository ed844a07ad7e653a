"""Shared queues: which queue manager of a queue-sharing group gets the messages. Source: seed 2."""
