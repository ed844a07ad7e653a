"""Where a message is: on its way, waiting, or where it was to go."""
