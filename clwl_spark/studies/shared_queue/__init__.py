"""Shared queues: which queue manager of a queue-sharing group gets the messages.

Source: IBM's page on shared queues.
"""
