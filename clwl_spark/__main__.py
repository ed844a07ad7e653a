"""`python -m clwl_spark`: the program `clwl`."""

from clwl_spark.cli import program

if __name__ == "__main__":
    program()
