"""The records that reading passes on: what a text holds, what it gives, what is refused."""

from dataclasses import dataclass, field

from clwl_spark.errors import InputError

Attributes = dict[str, str]
"""MQSC keyword in upper case -> value; a blank value is ''."""

SHOWN_TEXT = 200


class PieceRefusedError(InputError):
    """A command or a displayed object that cannot be used; it becomes a reject."""


@dataclass(frozen=True, slots=True)
class Reject:
    """One piece of a text that could not be used, with its place and the reason."""

    file: str
    line: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything that one or several texts say.

    Args:
        rows: table name of the contract -> rows, one dict per table key, each with `source`
            ("file:line"); `cluster_senders` holds the manually defined CLUSSDRs.
        rejects: the pieces that could not be used, in the order of the texts.
        qmgrs: the queue managers whose texts they were, in order of appearance.
    """

    rows: dict[str, list[dict[str, object]]]
    rejects: list[Reject]
    qmgrs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Opening:
    """From this line on, the text is a queue manager's: a dump, a session or a here-document."""

    line: int
    qmgr: str
    origin: str
    terminator: str = ""


@dataclass(frozen=True, slots=True)
class Hint:
    """A shell's or prompt's word for whose session follows; for texts that say nothing better."""

    line: int
    qmgr: str


@dataclass(frozen=True, slots=True)
class Ending:
    """A runmqsc session ends at this line."""

    line: int


@dataclass(frozen=True, slots=True)
class Failure:
    """MQ's message that the command before it was not carried out."""

    line: int


@dataclass(frozen=True, slots=True)
class Script:
    """One MQSC command, its lines joined; `notes` are the attributes in its comment lines.

    `number` is the one that runmqsc echoed before it, 0 where the command stands for itself; `cut`
    is true where the text ends within it.
    """

    line: int
    text: str
    verb: str
    number: int = 0
    notes: Attributes = field(default_factory=dict)
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """One object of a DISPLAY command's output; `system` is a z/OS message's command prefix."""

    line: int
    kind: str
    attributes: Attributes
    system: str = ""


@dataclass(frozen=True, slots=True)
class Other:
    """A line that is neither a command nor output of one."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Broken:
    """A piece that is known to be MQ's and cannot be read."""

    line: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Embedded:
    """Output of runmqsc within an answer of the REST interface; it is read like other output."""

    line: int
    text: str


Event = Opening | Hint | Ending | Failure | Script | Shown | Other | Broken | Embedded


@dataclass(frozen=True, slots=True)
class Definition:
    """An object of one queue manager as a text leaves it.

    Args:
        subtype: QLOCAL, QALIAS, ...; a channel's CHLTYPE; '' for other kinds.
        shown: known from DISPLAY output, so an attribute that is absent is not known rather than
            MQ's default.
        implied: an object that MQ brings along, altered but not defined here; it gives no row.
    """

    kind: str
    subtype: str
    name: str
    attributes: Attributes
    line: int
    shown: bool = False
    implied: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A row on its way to a table, with what merging needs.

    Args:
        stamp: "date time" of the last change that MQ tells, '' where it does not.
        partial: a null in `values` is not known (True) or MQ's default (False).
    """

    table: str
    values: dict[str, object]
    file: str
    line: int
    stamp: str = ""
    partial: bool = False
