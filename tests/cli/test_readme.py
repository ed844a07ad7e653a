"""README and docs are typed on a machine without Java: commands work, and say what is shown."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from cli.readme_commands import README, ROOT, Step, as_json, difference, pages, steps_of, words_of

from clwl_spark.cli import app

PROGRAM = Path(__file__).with_name("readme_commands.py")
PAGES = {str(path.relative_to(ROOT)): path for path in pages()}
WIDTH = "130"
MAKE_DEMO = "clwl demo --lake build/demo-lake"
WORST = 2
"""An exit code of commands that are shown to refuse something."""


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    """What every step of every page said, by page: (step, (exit code, output, errors)).

    Each page has a folder of its own with the demo's texts in it and, unless the page begins by
    making it, the lake of `make demo`.
    """
    top = tmp_path_factory.mktemp("pages")
    env = _without_java(top)
    _typed([(top, [Step("clwl", 0, MAKE_DEMO)])], top, env)
    todo = []
    for name, path in PAGES.items():
        folder = top / name.replace("/", "-").removesuffix(".md")
        steps = steps_of(path.read_text(encoding="utf-8"))
        folder.mkdir()
        (folder / "data").symlink_to(ROOT / "data")
        if MAKE_DEMO not in [x.what for x in steps]:
            shutil.copytree(top / "build", folder / "build")
        todo.append((folder, steps))
    answers = _typed(todo, top, env)
    assert not (top / "java was called").exists()
    done = zip(PAGES, todo, answers, strict=True)
    return {name: [*zip(steps, told, strict=True)] for name, (_, steps), told in done}


def _typed(todo, folder, env):
    """The answers of one process to all steps."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM)],
        input=json.dumps([(str(x), as_json(steps)) for x, steps in todo]),
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


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
        "COLUMNS": WIDTH,
        "PYTHONPATH": f"{ROOT}:{ROOT / 'tests' / 'support'}",
    }


@pytest.mark.parametrize("page", PAGES)
def test_every_step_works_and_says_what_the_page_shows(walked, page):
    wrong = []
    for step, (code, out, err) in walked[page]:
        refusal = [x for x in err.splitlines() if x.startswith("clwl: ")]
        if code > (WORST if any(x.startswith("clwl: ") for x in step.shown) else 1):
            wrong.append((step.line, step.what, err))
        if "Traceback" in err:
            wrong.append((step.line, step.what, err))
        if told := difference(step.shown, "\n".join([out, *refusal])):
            wrong.append((step.line, step.what, told))
    assert not wrong, "\n\n".join(f"{page}:{line}: {what}\n{told}" for line, what, told in wrong)


def test_pages_have_something_to_do():
    assert README.name in PAGES
    assert sum(len(steps_of(x.read_text(encoding="utf-8"))) for x in PAGES.values()) > 60


@pytest.mark.parametrize("page", PAGES)
def test_commands_that_are_not_run_are_commands(page):
    known = typer.main.get_command(app)
    for step in steps_of(PAGES[page].read_text(encoding="utf-8")):
        if step.kind in ("said", "clwl"):
            name, *words = words_of(step.what)
            command = known.commands.get(name)
            assert command is not None, f"{page}:{step.line}: {step.what}"
            if "COMMAND" not in words and "--help" not in words:
                command.make_context(name, words)


def test_the_readme_is_short_and_says_how_to_begin():
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 200
    assert len(text.encode()) <= 12_000
    assert "make demo" in text
    assert "make test" in text


@pytest.mark.parametrize(
    ("shown", "said", "same"),
    [
        (["a", "b"], "a\n\nb  \nengine: embedded\n", True),
        (["a", "..."], "a\nb\nc", True),
        (["...", "c"], "a\nb\nc", True),
        (["a", "c"], "a\nb\nc", False),
        (["run …", "b"], "run 12ab\nb", True),
        (["a"], "b", False),
        ([], "b", True),
    ],
)
def test_what_is_shown_is_compared_line_by_line(shown, said, same):
    assert (difference(shown, said) == "") is same
