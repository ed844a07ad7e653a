"""What was routed, as one HTML page: the tables summed up, what surprises in them, and charts."""
