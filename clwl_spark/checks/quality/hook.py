"""A command of the user's that is run when gates say no."""

import json
import os
import shlex
import subprocess
import sys

from clwl_spark.checks.quality.results import Report
from clwl_spark.errors import UsageError


def run_hook(command: str, report: Report, lake: str) -> str:
    """Run a command with the report's JSON as its input; its output goes to standard error.

    The variables CLWL_LAKE, CLWL_SCOPE, CLWL_SUBJECT and CLWL_VALIDATION say what it is about.

    Returns:
        What went wrong with the command itself; blank = nothing.

    Raises:
        UsageError: the command cannot be read as words.
    """
    words = words_of(command)
    told = {
        "CLWL_LAKE": lake,
        "CLWL_SCOPE": report.scope.value,
        "CLWL_SUBJECT": report.subject,
        "CLWL_VALIDATION": report.validation_id,
    }
    document = json.dumps(report.to_json(), ensure_ascii=False, default=str)
    try:
        done = subprocess.run(  # noqa: S603  (the user's own command)
            words,
            input=document,
            text=True,
            env=os.environ | told,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
    except OSError as error:
        return f"{words[0]} could not be run: {error.strerror}"
    sys.stderr.write(done.stdout)
    return f"{words[0]} ended with {done.returncode}" if done.returncode else ""


def words_of(command: str) -> list[str]:
    """The command and its arguments.

    Raises:
        UsageError: quotes do not match, or there is nothing.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--on-failure {command!r}: {error}: write it as a shell would") from error
    if not words:
        raise UsageError("--on-failure: give a command, like 'notify --team mq'")
    return words
