"""The plans of a batch: which it needs, made, kept in the lake, gathered for its buckets."""
