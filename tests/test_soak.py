"""The program of `make soak` kills what it says, finds nothing wrong, and finds what is wrong."""

from pathlib import Path

import pytest
import soak
from killed_lakes import STEPS, Killed


def test_a_seed_tells_the_same_stories() -> None:
    told = [*soak.stories(7, 200, soak.ENGINES)]
    assert told == [*soak.stories(7, 200, soak.ENGINES)]
    assert sum(len(x.kills) for x in told) == 200
    kills = [y for x in told for y in x.kills]
    assert {x.engine for x in kills} == {*soak.ENGINES}
    assert {x.victim for x in kills} == {*soak.VICTIMS}
    assert {x.point for x in kills} >= {f"after:{x}" for x in STEPS}


def test_two_kills_are_survived(capsys: pytest.CaptureFixture[str]) -> None:
    assert soak.main(["--kills", "2", "--seed", "3", "--engines", "embedded"]) == 0
    said = capsys.readouterr().out
    assert "2/2 lake" in said
    assert "0 lakes differ" in said


def test_a_difference_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def differs(*_: object) -> None:
        raise AssertionError(("outcomes", ""))

    monkeypatch.setattr(Killed, "check", differs)
    story = soak.Story(0, (), "embedded")
    assert soak.soak([story], tmp_path) == 1
    assert "1 lakes differ" in capsys.readouterr().out
