"""A program: routes the demo without Java, asks the embedded engine everything, keeps the answers.

`python by_embedded.py FOLDER` makes FOLDER/lake and FOLDER/answers.json.
"""

import json
import sys
from pathlib import Path

from engines.asked import questions

from clwl_spark.cli import main
from clwl_spark.spark.embedded import embedded_session


def run(folder: Path) -> None:
    """Answer all questions."""
    with embedded_session() as spark:
        lake = folder / "lake"
        assert main(["demo", "--lake", str(lake), "--quiet"]) == 0
        answers = {
            name: question(spark, lake, folder / "embedded" / name)
            for name, question in questions().items()
        }
    (folder / "answers.json").write_text(json.dumps(answers))


if __name__ == "__main__":
    run(Path(sys.argv[1]))
