"""What each queue manager knows of its clusters, and since when.

Source: SEMANTICS S2; Hughson's deck.
"""
