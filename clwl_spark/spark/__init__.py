"""Sessions, and what is done differently with Apache Spark, Spark Connect and Sail."""
