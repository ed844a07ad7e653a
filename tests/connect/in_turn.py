"""A program: types commands one after the other in one process.

`in_turn.py < COMMANDS` takes a JSON list of commands, each a list of words, and prints one of
[exit code, what stood on standard output, and on standard error].
"""

import contextlib
import io
import json
import sys

from clwl_spark.cli import main


def answer(words: list[str]) -> tuple[int, str, str]:
    """What a command gives."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    return code, out.getvalue(), err.getvalue()


if __name__ == "__main__":
    answers = [answer(words) for words in json.load(sys.stdin)]
    json.dump(answers, sys.stdout)
