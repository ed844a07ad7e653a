"""What routes a batch: this process and its workers, or Spark by Arrow or by its own rows."""
