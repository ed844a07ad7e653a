"""Temporary folders of processes that were killed go; those of living ones stay."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from clwl_spark.spark import temporary
from clwl_spark.spark.temporary import PREFIXES, TemporaryFolder

HOLDS = """
import sys
from clwl_spark.spark.temporary import TemporaryFolder
print(TemporaryFolder(sys.argv[1]).path, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system's folder of temporary files, in which no folder is young."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(temporary, "_YOUNG_SECONDS", -1)
    return tmp_path


@contextmanager
def other_process(place: Path, prefix: str) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process with a folder that is not empty."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, prefix],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(place)},
        text=True,
    ) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        (folder / "blocks").write_text("x")
        yield process, folder


@pytest.mark.parametrize("prefix", PREFIXES)
def test_the_folder_of_a_process_that_was_killed_goes_with_the_next_run(
    place: Path, prefix: str
) -> None:
    with other_process(place, prefix) as (process, folder):
        TemporaryFolder(PREFIXES[0]).close()
        assert (folder / "blocks").is_file()
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert folder.is_dir()
    own = TemporaryFolder(PREFIXES[0])
    assert [*place.iterdir()] == [own.path]
    own.close()
    own.close()
    assert [*place.iterdir()] == []


def test_what_is_not_ours_or_young_stays(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = TemporaryFolder(PREFIXES[0])
    (place / "elsewhere").mkdir()
    (place / f"{PREFIXES[0]}link").symlink_to(place / "elsewhere")
    (place / f"{PREFIXES[0]}file").write_text("x")
    before = {*place.iterdir()}
    temporary.sweep()
    assert {*place.iterdir()} == before
    mine.close()
    monkeypatch.setattr(temporary, "_YOUNG_SECONDS", 60)
    (place / f"{PREFIXES[1]}young").mkdir()
    temporary.sweep()
    assert (place / f"{PREFIXES[1]}young").is_dir()
