"""The page about object stores is typed against a real server."""

import shlex

import pytest
from cli.readme_commands import ROOT
from object_stores import BUCKET

from clwl_spark.cli import main
from clwl_spark.storage.files import delete_folder

PAGE = ROOT / "docs" / "how-to" / "object-stores.md"
LINES = [
    x
    for x in PAGE.read_text(encoding="utf-8").splitlines()
    if x.startswith("clwl ") and "s3://" in x
]


@pytest.fixture(scope="module", autouse=True)
def emptied(between):
    """The bucket has none of the page's lakes, before and after."""
    assert between.endpoint
    yield
    for lake in ("mq", "load"):
        delete_folder(f"s3://{BUCKET}/{lake}")


def test_the_page_has_commands():
    assert len(LINES) >= 8


@pytest.mark.usefixtures("proxy")
@pytest.mark.parametrize("line", LINES)
def test_each_of_its_commands_works(line, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert main([*shlex.split(line)[1:], "--quiet"]) <= 1
