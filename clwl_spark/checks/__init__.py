"""What must hold: quality gates of data, and assertions about a configuration."""
