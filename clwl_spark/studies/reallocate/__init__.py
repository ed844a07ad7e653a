"""Re-allocation: when a channel stops, its waiting messages choose anew (SEMANTICS 8, seed 1)."""
