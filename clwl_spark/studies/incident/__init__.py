"""What happened to an object's messages since a moment, and what to do."""
