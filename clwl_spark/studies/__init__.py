"""Questions about a lake: why a message goes where it goes, what would change, what to improve."""
