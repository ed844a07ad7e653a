"""Ready questions in SQL about what was routed, and the documented views that they are asked of.

The SQL is in files, `views` and `asked`; it means the same to Spark and to DuckDB, over the lake's
tables by bare name.
"""
