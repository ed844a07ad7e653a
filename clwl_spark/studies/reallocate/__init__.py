"""Re-allocation: when a channel stops, its waiting messages choose anew.

Source: SEMANTICS 8; Dick's article.
"""
