"""What the README says to type, and what it shows of the answers. As a program: types all of it.

`python readme_commands.py < WORDS` takes a JSON list of commands, each a list of words, and prints
one of [exit code, what stood on standard output, and on standard error].
"""

import contextlib
import io
import json
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from clwl_spark.cli import main

README = Path(__file__).parents[2] / "README.md"
INDENT = "    "
_TYPED = re.compile(r"    (\$ )?(clwl .*)")


@dataclass(frozen=True, slots=True)
class Typed:
    """A command of the README.

    Attributes:
        words: after `clwl`.
        shown: lines of its output as the README has them; "..." leaves some out.
    """

    words: tuple[str, ...]
    shown: tuple[str, ...]


def typed_commands(text: str) -> Iterator[Typed]:
    """The commands that stand in blocks of code, in their order."""
    lines = iter([*text.replace("\\\n", " ").splitlines(), ""])
    line = next(lines, None)
    while line is not None:
        found = _TYPED.fullmatch(line)
        line = next(lines, None)
        if found is None:
            continue
        words = tuple(shlex.split(found[2], comments=True))[1:]
        shown = []
        while found[1] and line is not None and (line.startswith(INDENT) or not line):
            shown.append(line.removeprefix(INDENT))
            line = next(lines, None)
        yield Typed(words, tuple(filter(None, shown)))


def _answers() -> Iterator[tuple[int, str, str]]:
    for words in json.load(sys.stdin):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(words)
        yield code, out.getvalue(), err.getvalue()


if __name__ == "__main__":
    answers = [*_answers()]
    json.dump(answers, sys.stdout)
