"""The README's commands, typed in its order on a machine without Java: they work, and say that."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from cli.readme_commands import README, typed_commands
from deltalake import write_deltalake

PROGRAM = Path(__file__).with_name("readme_commands.py")
ROOT = README.parent
NEEDS_A_CATALOG = "--create-views"
MONDAY = """\
* Queue manager name: {0}
DEFINE CHANNEL(TO.{0}) CHLTYPE(CLUSRCVR) CLUSTER(ALL) CONNAME('{0}')
DEFINE QLOCAL(ORDERS) CLUSTER(ALL) DEFBIND(NOTFIXED)
"""
TUESDAY = "ALTER QLOCAL(ORDERS) CLWLPRTY(5)\n"
PUTS = {
    "qmgr": ["QM1"] * 3,
    "put_seq": [1, 2, 3],
    "put_time": [datetime(2026, 9, 14, 7, tzinfo=UTC)] * 3,
    "object_name": ["ORDERS"] * 3,
}
COUNTS = {
    "qmgr": ["QM1"],
    "object_type": ["CHANNEL"],
    "object_name": ["TO.QM2"],
    "remote_qmgr": ["QM2"],
    "from_time": [datetime(2026, 9, 14, 6, tzinfo=UTC)],
    "to_time": [datetime(2026, 9, 14, 8, tzinfo=UTC)],
    "messages": [2],
    "source": ["DISPLAY CHSTATUS"],
}


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    """What every command said: (words, lines shown, exit code, standard output and error)."""
    folder = tmp_path_factory.mktemp("walk")
    (folder / "exports").mkdir()
    for name in ("QM1", "QM2"):
        (folder / "exports" / f"{name}.mqsc").write_text(MONDAY.format(name))
    (folder / "change.mqsc").write_text(TUESDAY)
    (folder / "group.toml").write_text(_scenario())
    (folder / "conf").mkdir()
    (folder / "conf" / "local.toml").write_text('poll = "1s"\n')
    for name, rows in (("messages", PUTS), ("observed_counts", COUNTS)):
        write_deltalake(folder / "lake" / name, pl.DataFrame(rows).to_arrow())
    typed = [x for x in typed_commands(README.read_text()) if NEEDS_A_CATALOG not in x.words]
    demo = ("demo", "--lake", "build/demo-lake")
    words = [demo, *(x.words for x in typed)]
    done = subprocess.run(
        [sys.executable, str(PROGRAM)],
        input=json.dumps(words),
        cwd=folder,
        env=_without_java(folder),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not (folder / "java was called").exists()
    shown = [(), *(x.shown for x in typed)]
    return [*zip(words, shown, json.loads(done.stdout), strict=True)]


def _scenario():
    """The README's group of queue managers that share a queue."""
    lines = README.read_text().splitlines()
    first = lines.index('    name = "QSGP"')
    last = lines.index("", first)
    return "\n".join(lines[first:last])


def _without_java(folder: Path) -> dict[str, str]:
    """Variables with which a Java that is called leaves a note."""
    program = folder / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\ntouch "{folder}/java was called"\nexit 1\n')
    program.chmod(0o755)
    known = {x: y for x, y in os.environ.items() if "SPARK" not in x}
    return known | {
        "PATH": f"{program.parent}:/usr/bin:/bin",
        "JAVA_HOME": str(folder),
        "COLUMNS": "130",
        "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}",
    }


def test_every_command_works(walked):
    assert len(walked) > 20
    for words, _, (code, _, err) in walked:
        assert code in (0, 1), (words, err)
        assert "Traceback" not in err, words


def test_every_command_says_what_the_readme_shows(walked):
    missing = []
    for words, shown, (_, out, _) in walked:
        said = iter([x.rstrip() for x in out.splitlines()])
        missing += [(*words[:1], x) for x in shown if x != "..." and x.rstrip() not in said]
    assert missing == []
