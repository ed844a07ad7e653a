"""The way of a message over as many queue managers as it takes: one traced, or all of a lake."""
