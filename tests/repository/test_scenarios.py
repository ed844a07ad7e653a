"""The situations of the seed, one folder each."""

import csv
from pathlib import Path

import pytest

from clwl_spark.settings import duration
from clwl_spark.studies.repository.events import read_story
from clwl_spark.studies.repository.knowledge import knowledge_of
from clwl_spark.studies.repository.transitions import play

FOLDERS = sorted(path for path in (Path(__file__).parent / "scenarios").iterdir() if path.is_dir())
DETAIL = {"known": "how", "missing": "why"}


def matching(rows, line):
    key = (line["kind"], line["name"], line["owner"])
    return [row for row in rows if (row["kind"], row["name"], row["qmgr"]) == key]


def details(what, rows):
    if what == "overdue":
        return {row["expected"][:10] for row in rows}
    if what == "stale":
        return {str(row["age_seconds"] // 86_400) for row in rows}
    return {row[DETAIL[what]] for row in rows}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_scenario(folder):
    assert "Hughson's deck" in (folder / "scenario.md").read_text()
    story = read_story(folder / "events.toml")
    with (folder / "expected.csv").open() as lines:
        for line in csv.DictReader(lines):
            knowledge = knowledge_of(
                play(story, story.moment_of(duration(line["at"]))), line["qmgr"]
            )
            what = line["what"]
            if what.startswith("unknown"):
                lists = [getattr(knowledge, what.partition("-")[2])] if "-" in what else [
                    knowledge.known, knowledge.missing, knowledge.stale
                ]  # fmt: skip
                assert not any(matching(rows, line) for rows in lists), line
                continue
            found = matching(getattr(knowledge, what), line)
            assert found, line
            assert line["detail"] in details(what, found) | {""}, (line, found)
