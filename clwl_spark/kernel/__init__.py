"""The choice itself: integers in arrays, no Spark, no pandas."""
