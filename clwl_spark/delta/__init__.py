"""Delta tables at a place: the only room that knows Delta."""
