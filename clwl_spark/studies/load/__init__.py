"""Files of puts, in whatever form somebody has them, into the table of messages."""
