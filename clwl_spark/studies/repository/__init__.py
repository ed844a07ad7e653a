"""What each queue manager knows of its clusters, and since when. Source: seed 4, SEMANTICS S2."""
