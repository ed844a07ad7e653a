"""A program: routes the demo by Apache Spark, asks Spark everything, and keeps the answers.

`python by_spark.py FOLDER` makes FOLDER/lake and FOLDER/answers.json.
"""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from engines.asked import questions

from clwl_spark.cli import main
from clwl_spark.spark.local import spark_session
from clwl_spark.spark.local_settings import SMALL_WORK


def run(folder: Path) -> None:
    """Answer all questions."""
    settings = {**SMALL_WORK, "spark.driver.memory": "4g", "spark.sql.shuffle.partitions": "2"}
    with spark_session({**settings, "spark.master": "local[2]"}) as spark:
        lake = folder / "lake"
        assert main(["demo", "--lake", str(lake), "--quiet"]) == 0
        answers = {}
        for name, question in questions().items():
            start = time.perf_counter()
            answers[name] = question(spark, lake, folder / "spark" / name)
            print(f"{time.perf_counter() - start:6.1f} s {name}", flush=True)  # noqa: T201
    (folder / "answers.json").write_text(json.dumps(answers))


if __name__ == "__main__":
    run(Path(sys.argv[1]))
