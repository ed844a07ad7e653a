"""What went wrong, as one sentence and an exit code; Spark's own errors in readable words."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from py4j.protocol import Py4JJavaError, Py4JNetworkError
from pyarrow import ArrowException
from pyspark.errors import PySparkException

from clwl_spark import errors
from clwl_spark.cli.exit_codes import ANYTHING_ELSE, BAD_INPUT

MORE: Final = "run with --verbose for more"

_RAISED: Final = re.compile(r"^\w[\w.]*(?:Error|Exception): .*", re.MULTILINE)
_CAUSED: Final = re.compile(r"^(?:: |Caused by: )(\w[\w.$]+(?:Error|Exception): .*)", re.MULTILINE)
"""What Java said, where Python's last words only say that Java said something."""
_OF_ENGINES: Final = (PySparkException, ArrowException)
_BROKE_OFF: Final = re.compile(
    r"RPC that terminated.*?StatusCode\.(\w+)(?:.*?details = \"(.*?)\")?", re.DOTALL
)
"""What gRPC says of a call to an engine that ended without the engine's own word on it."""
_OURS: Final = re.compile(r"clwl_spark\.errors\.(\w+): (.+)")
_EXTRAS: Final = {
    "altair": "report",
    "great_expectations": "gates",
    "networkx": "report",
    "openlineage": "lineage",
    "pysail": "embedded",
    "vl_convert": "report",
}
"""What brings a library that not every installation has."""
_ADVICE: Final[tuple[tuple[str, str, int], ...]] = (
    (
        r"No module named '",
        "the executors lack it: install this package there, and set PYSPARK_PYTHON to their Python",
        ANYTHING_ELSE,
    ),
    (r"DELTA_VIOLATE_CONSTRAINT", "a row breaks a rule of the table; correct it", BAD_INPUT),
    (r"DELTA_NOT_NULL_CONSTRAINT", "a key column is null; fill it", BAD_INPUT),
    (r"NOT_NULL_ASSERT_VIOLATION", "a key column is null; fill it", BAD_INPUT),
    (
        r"DELTA_FAILED_TO_MERGE_FIELDS|DELTA_METADATA_MISMATCH|DELTA_SCHEMA_CHANGED",
        "a table's columns are not those of the contract; write the table anew",
        BAD_INPUT,
    ),
    (
        r"DELTA_MULTIPLE_SOURCE_ROW_MATCHING",
        "several rows have the same key; leave one of them",
        BAD_INPUT,
    ),
    (
        (
            r"PATH_NOT_FOUND|TABLE_OR_VIEW_NOT_FOUND|DELTA_TABLE_NOT_FOUND|SCHEMA_NOT_FOUND"
            r"|DELTA_PATH_DOES_NOT_EXIST|CATALOG_NOT_FOUND"
        ),
        "check --lake or --catalog",
        BAD_INPUT,
    ),
    (
        r"FAILED_READ_FILE|DELTA_.*LOG_FILE_NOT_FOUND|DELTA_TRUNCATED_TRANSACTION_LOG",
        "a file of the lake is gone or damaged; restore it",
        BAD_INPUT,
    ),
    (
        r"DELTA_UNSUPPORTED_FEATURES_FOR_(?:READ|WRITE)|DELTA_INVALID_PROTOCOL_VERSION",
        "a newer program wrote the table; use a version that knows what it has",
        BAD_INPUT,
    ),
    (
        r"Object [Ss]tore error|AWS Error|Generic S3 error|Error performing (GET|PUT|HEAD|POST)",
        "look at the settings [storage], and at the credentials in the environment",
        ANYTHING_ELSE,
    ),
    (
        r"DELTA_CONCURRENT|DELTA_PROTOCOL_CHANGED|DELTA_METADATA_CHANGED",
        "somebody else wrote to the table meanwhile; run the command again",
        ANYTHING_ELSE,
    ),
)


@contextmanager
def refusals_named(command: str) -> Iterator[None]:
    """What the engine embedded fails at becomes an error that names the command and the remedy.

    Raises:
        PlanRefusedError: it failed, and neither a row nor an error of this package is the reason.
    """
    try:
        yield
    except _OF_ENGINES as error:
        text = str(error)
        if _OURS.search(text) or _advised(text):
            raise
        said = _plain(_first_line(text))
        raise errors.PlanRefusedError(
            f"clwl {command}: engine embedded cannot work this out ({said}): run it again with "
            "--engine spark"
        ) from error


def failure(error: Exception) -> tuple[str, int]:
    """One sentence on an error, and the exit code that goes with it."""
    if isinstance(error, errors.ClwlError):
        return str(error), error.exit_code
    if isinstance(error, (PySparkException, Py4JJavaError)):
        return _of_spark(error)
    if isinstance(error, Py4JNetworkError):
        return f"Spark's Java process ended: is there enough memory? {MORE}", ANYTHING_ELSE
    if isinstance(error, ImportError):
        return _of_import(error), ANYTHING_ELSE
    if advised := _advised(str(error)) or _of_disk(error):
        return advised
    return f"{type(error).__name__}: {_first_line(str(error))}; {MORE}", ANYTHING_ELSE


def _of_disk(error: Exception) -> tuple[str, int] | None:
    """What a full disk is told by, or a place that is closed to this user; None = another error."""
    said = _first_line(str(error))
    if errors.is_full_disk(error):
        return f"a disk is full ({said}): make room, and run the command again", ANYTHING_ELSE
    if errors.is_cannot_write(error):
        return f"access is refused ({said}): let this user read and write there", ANYTHING_ELSE
    return None


def _of_import(error: ImportError) -> str:
    """What a command lacks, and how it comes."""
    extra = _EXTRAS.get((error.name or "").partition(".")[0])
    if extra is None:
        return f"{error}: run `clwl doctor`, or install clwl-spark anew"
    return f"this needs {error.name}, which is not installed: pip install 'clwl-spark[{extra}]'"


def _of_spark(error: PySparkException | Py4JJavaError) -> tuple[str, int]:
    """Spark's error: our own one inside it if there is one, else its class and first line."""
    text = str(error)
    if ours := _OURS.findall(text):
        return _of_worker(ours)
    if advised := _advised(text):
        return advised
    if "Traceback (most recent call last)" in text:
        last = _CAUSED.findall(text) or _RAISED.findall(text) or [_first_line(text)]
        return f"a Python worker failed: {last[-1]}; {MORE}", ANYTHING_ELSE
    words = _plain(_first_line(text))
    condition = error.getCondition() if isinstance(error, PySparkException) else None
    lead = f"Spark says {condition}: " if condition and condition not in words else ""
    return f"{lead}{words}; {MORE}", ANYTHING_ELSE


def _advised(text: str) -> tuple[str, int] | None:
    """The line with an error that there is advice on, and the exit code; None without one."""
    for pattern, advice, exit_code in _ADVICE:
        if named := re.search(rf"\b\w*({pattern})\w*", text):
            line = next(x for x in text.splitlines() if named.group() in x)
            return f"{_plain(line)}: {advice}", exit_code
    return None


def _of_worker(found: Sequence[tuple[str, str]]) -> tuple[str, int]:
    """An error of this package that a Python worker or a Java call wrapped into text."""
    name, sentence = found[-1]
    kind = getattr(errors, name, errors.ClwlError)
    return sentence.strip(), int(kind.exit_code)


def _first_line(text: str) -> str:
    """The first line that says anything."""
    if broke_off := _BROKE_OFF.search(text):
        return ": ".join(x.strip() for x in broke_off.groups() if x).partition("\n")[0]
    lines = (line.strip() for line in text.splitlines())
    return next((line for line in lines if line and not _is_lead_in(line)), "no message")


def _is_lead_in(line: str) -> bool:
    """True for py4j's line on which Java call it was."""
    return line.startswith("An error occurred while calling")


def _plain(line: str) -> str:
    """A line of Java without class names in front and SQLSTATE behind."""
    line = re.sub(r"^(: )?([\w$]+\.)+[\w$]+(Exception|Error): ", "", line.strip())
    return re.sub(r"\s*SQLSTATE: \w+.*$", "", line).rstrip(".: ")
