"""Make a lake with a topology and messages, for the routing benchmark."""

import argparse

from clwl_spark import tables as schemas
from clwl_spark.delta.lake import Lake
from clwl_spark.spark.local import local_session
from clwl_spark.studies.synthetic import GenerateSpec, messages, topology


def main() -> None:
    """Write the tables that routing reads."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lake", required=True, help="folder that does not exist yet")
    parser.add_argument("--messages", type=int, required=True)
    parser.add_argument("--qmgrs", type=int, default=50)
    parser.add_argument("--queues", type=int, default=20)
    parser.add_argument("--instances", type=int, default=8)
    parser.add_argument("--hot-sender", type=float, default=0.0)
    parser.add_argument("--non-default", type=float, default=0.0)
    options = vars(parser.parse_args())
    lake_folder = options.pop("lake")
    spec = GenerateSpec(**options)
    spark = local_session(app_name="make lake")
    lake = Lake(spark, lake_folder)
    tables = {**topology(spark, spec), schemas.MESSAGES.name: messages(spark, spec)}
    lake.create(schemas.TABLES[name] for name in tables)
    for name, frame in tables.items():
        lake.append(name, frame)
    spark.stop()


if __name__ == "__main__":
    main()
