"""Transmission queues of channels, and the switch from one to another.

Source: SEMANTICS 7; IBM's page on transmission queues.
"""
