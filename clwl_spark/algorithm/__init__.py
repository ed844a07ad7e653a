"""The choice itself and what leads to it: integers and records, no Spark, no pandas."""
