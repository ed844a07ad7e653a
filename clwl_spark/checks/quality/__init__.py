"""Quality gates: what must hold of a snapshot, of outcomes and of what was observed."""
