"""What the commands of `clwl` do; `words` declares them, so that `--help` starts no Spark."""
