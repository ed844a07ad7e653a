"""The tree of errors. Only these leave the package; each says what, where and what to do.

ClwlError                    anything that the command line turns into one sentence
├── UsageError               wrong words, settings or parameters                (exit 2)
│   ├── SettingsError        unknown or unusable setting
│   ├── ExitFunctionError    the configured cluster workload exit cannot be used
│   └── EngineError          the engine that was asked for cannot do this
├── InputError               tables or files that cannot be used                (exit 2)
│   ├── MissingLakeError     no lake, or no such table in it
│   ├── MissingSchemaError   no such schema in the catalog, and none was made
│   ├── MissingColumnsError  a table lacks columns that the contract names
│   ├── TopologyError        rows out of range, unknown words, duplicate keys
│   ├── IngestError          a text or folder of which nothing can be used
│   └── LakeStateError       lake and checkpoint do not belong together
│       ├── DamagedMemoryError   what a queue manager remembers was changed
│       └── LostMessagesError    a file of messages is gone or damaged
├── GateError                a quality gate said no                             (exit 1)
├── SplitError               files of messages that only Spark can read         (exit 3)
├── WorkerLostError          a worker process that was ended from outside       (exit 3)
├── OutOfMemoryError         memory is short                                    (exit 3)
├── CannotWriteError         a full disk, or a folder that cannot be written    (exit 3)
├── StorageError             an object store that does not answer, or refuses   (exit 3)
├── OtherWriterError         another writer was faster, again and again         (exit 3)
├── PlanRefusedError         a question that the engine embedded cannot answer    (exit 3)
└── SetupError               Java, JARs or Python that do not fit               (exit 3)
"""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Final

_MOST_NAMES: Final = 8
"""Names that a message lists."""
_WRAPPED: Final = re.compile(r"clwl_spark\.([\w.]+)\.(\w+): (.+)")
_JAVAS: Final = "\nJVM stacktrace:"
_FULL_DISK: Final = re.compile(
    r"No space left on device|Disk quota exceeded|File too large|os error (28|122)\b"
)
_CANNOT_WRITE: Final = re.compile(r"Read-only file system|Permission denied|os error (30|13)\b")


class ClwlError(Exception):
    """Base of all errors of this package; `exit_code` is what the command line ends with."""

    exit_code = 3


class UsageError(ClwlError):
    """Wrong words, options or parameters."""

    exit_code = 2


class SettingsError(UsageError):
    """A setting that is unknown or has an unusable value."""


class ExitFunctionError(UsageError):
    """The configured cluster workload exit cannot be imported or returned something else."""


class EngineError(UsageError):
    """The engine that was asked for cannot do this, here or with this lake."""


class InputError(ClwlError):
    """Tables or files that cannot be used."""

    exit_code = 2


MAKERS: Final[Mapping[str, Sequence[str]]] = {
    "messages": ("generate", "load"),
    **dict.fromkeys(
        (
            "snapshots",
            "queue_managers",
            "cluster_channels",
            "channel_status",
            "queues",
            "topics",
            "subscriptions",
            "views",
        ),
        ("generate", "ingest"),
    ),
    **dict.fromkeys(
        ("observed_counts", "observed_routes", "status_events", "config_events"), ("load",)
    ),
    **dict.fromkeys(
        ("outcomes", "rejected_messages", "route_plans", "route_candidates", "runs"), ("route",)
    ),
    **dict.fromkeys(("gate_results", "gate_failures"), ("validate",)),
    **dict.fromkeys(("hops", "hop_batches"), ("route --hops N",)),
    "reallocations": ("reallocate",),
}
"""The commands that make a table, for those that other commands need."""


class MissingLakeError(InputError):
    """The lake, or a table of it, is not there."""

    def __init__(self, table: str, where: str) -> None:
        """Name the table and the lake, and the commands that make the table."""
        self.table = table
        self.where = where
        makers = " or ".join(f"`clwl {x}`" for x in MAKERS.get(table, ()))
        remedy = f", or make one with {makers}" if makers else " and the table's name"
        super().__init__(f"no table '{table}' in {where}: check --lake{remedy}")


class MissingSchemaError(InputError):
    """The schema of a catalog, which a lake is to be in, is not there."""

    def __init__(self, schema: str, why: str = "") -> None:
        """Name the schema, and the SQL that makes it; `why` = what was said when it was made."""
        self.schema = schema
        named = ".".join(f"`{x}`" for x in schema.split("."))
        reason = f" and cannot be made ({why})" if why else ""
        super().__init__(
            f"schema {schema} is not there{reason}: check --catalog, or let somebody who may run "
            f"CREATE SCHEMA {named}"
        )


class MissingColumnsError(InputError):
    """A table lacks columns, or has them with another type."""

    def __init__(self, table: str, missing: Mapping[str, str], found: Mapping[str, str]) -> None:
        """Keep the parts that a caller acts on.

        Args:
            table: its name.
            missing: the type that the contract has, by column.
            found: the type that the table has, by column.
        """
        self.table = table
        self.missing = tuple(missing)
        offences = (
            f"column '{x}' is {found[x]} and must be {y}"
            if x in found
            else f"column '{x}' ({y}) is missing"
            for x, y in missing.items()
        )
        cast = next((f", as by CAST({x} AS {y})" for x, y in missing.items() if x in found), "")
        super().__init__(
            f"table '{table}': {', '.join(offences)}; write the table with the contract's columns "
            f"and types{cast}"
        )


class TopologyError(InputError):
    """Topology rows that MQ could not have: out of range, unknown word, duplicate key."""

    def __init__(self, table: str, column: str, value: object, row: str, reason: str) -> None:
        """Keep table, column, value and row of the first offence."""
        self.table = table
        self.column = column
        self.value = value
        self.row = row
        super().__init__(
            f"table '{table}', column '{column}': {value!r} {reason}; row {row}; "
            f"nothing was written: correct the row and write again"
        )


class IngestError(InputError):
    """A text, or a whole folder, of which nothing can be used."""


class LakeStateError(InputError):
    """The lake and its routing state (checkpoint, algorithm, history) do not belong together."""


class DamagedMemoryError(LakeStateError):
    """What a queue manager remembers is not as it was written."""


class LostMessagesError(LakeStateError):
    """A file of messages that the table has by its log is gone or damaged."""


class GateError(ClwlError):
    """A quality gate said no."""

    exit_code = 1


class SplitError(ClwlError):
    """A file of messages is not what Arrow takes it for; Spark has to read it."""


class WorkerLostError(ClwlError):
    """A worker process that was ended from outside; what it did is done again by the next run."""


class OutOfMemoryError(ClwlError):
    """Memory is short."""


class CannotWriteError(ClwlError):
    """A disk is full, or a folder cannot be written."""


class StorageError(ClwlError):
    """An object store does not answer, or refuses; nothing is known of what it has."""


class OtherWriterError(ClwlError):
    """Another writer was faster, each time that a change was tried."""


class PlanRefusedError(ClwlError):
    """A question that the engine embedded cannot answer; Spark can."""


class SetupError(ClwlError):
    """Java, the Delta JARs or Python that do not fit; `clwl doctor` says which."""


def raised_within(text: str) -> ClwlError | None:
    """The error of this package that a worker or a Java call has wrapped into text, if there is."""
    found = _WRAPPED.findall(text.partition(_JAVAS)[0])
    if not found:
        return None
    module, name, sentence = found[-1]
    kind: type[ClwlError] = getattr(import_module(f"clwl_spark.{module}"), name)
    return kind.__new__(kind, sentence.strip())


def is_full_disk(error: BaseException) -> bool:
    """Whether the system had no room for what was written, whoever says so."""
    return _FULL_DISK.search(str(error)) is not None


def is_cannot_write(error: BaseException) -> bool:
    """Whether the system let nobody write where something was to be written, whoever says so."""
    return _CANNOT_WRITE.search(str(error)) is not None


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """The nearest name as a question, else the first few names that there are."""
    known = sorted(names)
    found = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    if found:
        return f"did you mean {found[0]!r}?"
    if not known:
        return "there are none"
    return f"there are {first_names(known)}"


def first_names(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")


def near_names(wanted: str, names: Sequence[str]) -> str:
    """Those that differ from a name in case alone, else the first few; '' = there are none."""
    near = [x for x in names if x.upper() == wanted.upper()] or names[:_MOST_NAMES]
    return ", ".join(near) + (", ..." if len(names) > len(near) else "")
