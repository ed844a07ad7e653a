"""What README and docs say to type, and what they show of the answers. As a program: types it all.

Of a page's fenced blocks
    ```console            has commands after `$ `, each followed by what it prints: run, compared
    ```python             is run, and compared with a block ```text that follows it at once
    ```... title="FILE"   is written to that file, for what comes after it
    ```sh                 is not run; its lines that begin with `clwl ` have to be commands
In what is shown a line `...` stands for any lines and the character `…` for the rest of a line;
blank lines, blanks at the end and the last line, which names the engine, do not count.

`python readme_commands.py < PAGES` takes a JSON list of pages, each [folder, steps], and prints for
each step [exit code, standard output, standard error].
"""

import contextlib
import io
import json
import os
import re
import shlex
import sys
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from clwl_spark.cli import main

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PROMPT = "$ "
_FENCE = re.compile(r' *```(\w+)?(?: title="([^"]+)")?(?: .*)?')
_ENGINE = "engine: "
_ASKING = tuple(f"clwl {x} --lake build/demo-lake " for x in ("explain", "trace", "what-if"))
"""What the demo's lake is asked by several pages in the same words is asked once."""
_Answer = tuple[int, str, str]


@dataclass(frozen=True, slots=True)
class Step:
    """Something that a page has one do.

    Attributes:
        kind: clwl = a command, python = a block that is run, file = a file that is there,
            said = a command that is shown and not run.
        line: of the page, where it stands.
        what: the words after `clwl`, the code, or the content of the file.
        path: of the file.
        shown: lines of the output as the page has them.
    """

    kind: str
    line: int
    what: str
    path: str = ""
    shown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Block:
    language: str
    title: str
    line: int
    lines: tuple[str, ...]
    follows: bool


def pages() -> list[Path]:
    """README and the pages of the documentation, those with nothing to do left out."""
    found = [README, *sorted((ROOT / "docs").rglob("*.md"))]
    return [path for path in found if steps_of(path.read_text(encoding="utf-8"))]


def steps_of(text: str) -> list[Step]:
    """What a page has one do, in its order."""
    steps: list[Step] = []
    for block in _blocks(text):
        content = "\n".join(block.lines) + "\n"
        if block.title:
            steps.append(Step("file", block.line, content, block.title))
        elif block.language == "console":
            steps += _commands(block)
        elif block.language == "python":
            steps.append(Step("python", block.line, content))
        elif block.language == "sh":
            lines = content.replace("\\\n", " ").splitlines()
            steps += [Step("said", block.line, x) for x in lines if x.startswith("clwl ")]
        elif block.language == "text" and block.follows and steps and steps[-1].kind == "python":
            ran = steps.pop()
            steps.append(Step("python", ran.line, ran.what, shown=block.lines))
    return steps


def words_of(command: str) -> list[str]:
    """The words after `clwl`."""
    return shlex.split(command, comments=True)[1:]


def difference(shown: Iterable[str], said: str) -> str:
    """What a page shows and the command does not say; '' = nothing."""
    wanted = [x.rstrip() for x in shown if x.strip()]
    if not wanted:
        return ""
    lines = [x.rstrip() for x in said.splitlines() if x.strip()]
    if lines and lines[-1].startswith(_ENGINE) and not wanted[-1].startswith(_ENGINE):
        lines.pop()
    pattern = "".join("(?:.*\n)*?" if x == "..." else _line(x) + "\n" for x in wanted)
    if re.fullmatch(pattern, "".join(f"{x}\n" for x in lines)):
        return ""
    strange = [
        x for x in wanted if x != "..." and not any(re.fullmatch(_line(x), y) for y in lines)
    ]
    told = "\n".join(strange) or "(every line is there: others are in between, or at an end)"
    return f"shown, but not said:\n{told}\nsaid:\n" + "\n".join(lines)


def _line(shown: str) -> str:
    return ".*".join(map(re.escape, shown.split("…")))


def _blocks(text: str) -> Iterator[_Block]:
    """The fenced blocks; `follows` = nothing but blank lines since the one before."""
    lines = enumerate(text.splitlines(), 1)
    follows = False
    for number, line in lines:
        fence = _FENCE.fullmatch(line)
        if fence is None:
            follows = follows and not line.strip()
            continue
        indent = len(line) - len(line.lstrip())
        inside = []
        for _, within in lines:
            if within.strip() == "```":
                break
            inside.append(within[indent:])
        yield _Block(fence[1] or "", fence[2] or "", number, tuple(inside), follows)
        follows = True


def _commands(block: _Block) -> Iterator[Step]:
    """The commands of a block, each with the lines after it."""
    text = "\n".join(block.lines).replace("\\\n", " ")
    for part in re.split(rf"(?m)^(?={re.escape(PROMPT)})", text):
        if part.strip():
            command, *shown = part.splitlines()
            yield Step("clwl", block.line, command.removeprefix(PROMPT), shown=tuple(shown))


def as_json(steps: Iterable[Step]) -> list[dict[str, object]]:
    """Steps for the program."""
    return [asdict(x) for x in steps]


def _done(step: Step, names: dict[str, object]) -> int:
    """Do a step; return an exit code."""
    if step.kind == "file":
        path = Path(step.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(step.what, encoding="utf-8")
    elif step.kind == "clwl":
        return main(words_of(step.what))
    elif step.kind == "python":
        exec(compile(step.what, f"line {step.line}", "exec"), names)  # noqa: S102
    return 0


def _answers(steps: Iterable[Step], known: dict[str, _Answer]) -> Iterator[_Answer]:
    names: dict[str, object] = {"__name__": "page"}
    for step in steps:
        if step.what in known:
            yield known[step.what]
            continue
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = _done(step, names)
            except Exception:  # noqa: BLE001  (whatever a page's Python raises is told)
                traceback.print_exc()
                code = 1
        answer = code, out.getvalue(), err.getvalue()
        if step.what.startswith(_ASKING):
            known[step.what] = answer
        yield answer


def _walk(
    folder: str, steps: Iterable[dict[str, object]], known: dict[str, _Answer]
) -> list[_Answer]:
    """A page's steps within its folder, whose modules can be imported."""
    os.chdir(folder)
    sys.path.insert(0, folder)
    try:
        return [*_answers((Step(**x) for x in steps), known)]  # type: ignore[arg-type]
    finally:
        sys.path.remove(folder)


if __name__ == "__main__":
    told, asked = sys.stdout, {}
    answers = [_walk(folder, steps, asked) for folder, steps in json.load(sys.stdin)]
    json.dump(answers, told)
