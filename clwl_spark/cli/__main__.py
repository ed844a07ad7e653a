"""`python -m clwl_spark.cli`."""

from clwl_spark.cli.entry import program

if __name__ == "__main__":
    program()
