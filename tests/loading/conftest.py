"""A lake without anything, and the command that loads into it."""

import json

import pytest

from clwl_spark.cli import main
from clwl_spark.delta.lake import Lake


@pytest.fixture
def lake(spark, tmp_path):
    return Lake(spark, str(tmp_path / "lake"))


@pytest.fixture
def load(lake, capsys):
    """Load, and give what the command says: its document, or its refusal."""

    def loaded(*words, code=0):
        capsys.readouterr()
        assert main(["load", "--lake", lake.root, "--json", *map(str, words)]) == code
        shown = capsys.readouterr()
        return json.loads(shown.out) if code == 0 else shown.err

    return loaded
