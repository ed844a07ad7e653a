"""What the commands of `clwl` do; `cli` only declares them, so that `--help` starts no Spark."""
