"""The charts of the report: each a function from its part of the data to a figure."""
