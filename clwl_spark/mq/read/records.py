"""The records that reading passes on: what a text holds, what it gives, what is refused."""

from dataclasses import dataclass, field
from typing import NamedTuple

from clwl_spark.errors import InputError

Attributes = dict[str, str]
"""MQSC keyword in upper case -> value; a blank value is ''."""

Key = tuple[str, str]
"""Kind and name of an object."""

SHOWN_TEXT = 200


IN_PART = "; the rest of the object is used"
"""End of the reason of a reject that takes away a part of an object alone."""


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
class PassedOver:
    """A file of which nothing was taken, or a command in one that was not, and why.

    Args:
        line: of the first such command; 0 = the whole file.
        text: the command's words.
    """

    file: str
    why: str
    line: int = 0
    text: str = ""


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
    text: str = ""


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
    """One object of a DISPLAY command's output.

    `system` is a z/OS message's command prefix; `asked` is the line of the command, where the text
    shows one that asked for all objects of this kind that the queue manager sees, else 0; `unread`
    is a line among the attributes of such objects that is none, of an object of its own without
    attributes.
    """

    line: int
    kind: str
    attributes: Attributes
    system: str = ""
    asked: int = 0
    unread: str = ""


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


@dataclass(frozen=True, slots=True)
class Passed:
    """Something of MQ's that gives no row, and what it is."""

    line: int
    what: str


Event = Opening | Hint | Ending | Failure | Script | Shown | Other | Broken | Embedded | Passed


@dataclass(frozen=True, slots=True)
class Definition:
    """An object of one queue manager as a text leaves it.

    Args:
        subtype: QLOCAL, QALIAS, ...; a channel's CHLTYPE; '' for other kinds.
        shown: known from DISPLAY output, so an attribute that is absent is not known rather than
            MQ's default.
        implied: an object that MQ brings along, altered but not defined here; it gives no row.
        starts_as: the object of MQ's that it takes its other attributes from, of which the text
            does not tell all; '' = it takes none.
    """

    kind: str
    subtype: str
    name: str
    attributes: Attributes
    line: int
    shown: bool = False
    implied: bool = False
    starts_as: str = ""


class AuthorityKey(NamedTuple):
    """What an authority record is of; the names are those of the contract's columns."""

    profile: str
    objtype: str
    entity_type: str
    entity: str


@dataclass(frozen=True, slots=True)
class AuthorityChange:
    """What a text says of one authority record.

    Args:
        whole: `added` is all that the record gives.
        gone: there is no such record any more.
    """

    line: int
    key: AuthorityKey
    added: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    whole: bool = False
    gone: bool = False


@dataclass(frozen=True, slots=True)
class TextState:
    """What one text says of one queue manager.

    Args:
        objects: (kind, name) -> definition, in the order of definition.
        views: objects of the cluster as this queue manager sees them.
        suspensions: ("CLUSTER" or "CLUSNL", name) -> (suspended, line), in order of the commands.
        open: commands about objects that the text itself does not define; another text of the
            queue manager may.
        pending: objects that an open command defines; what is said of them is open as well.
        unread: kinds of displayed objects of which one could not be used.
        authorities: what is said of authority records, in order.
        actions: REFRESH and RESET commands, in order.
    """

    qmgr: str
    source: str
    objects: dict[Key, Definition] = field(default_factory=dict)
    views: list[Shown] = field(default_factory=list)
    suspensions: dict[Key, tuple[bool, int]] = field(default_factory=dict)
    rejects: list[Reject] = field(default_factory=list)
    open: list[Script] = field(default_factory=list)
    pending: set[Key] = field(default_factory=set)
    unread: set[str] = field(default_factory=set)
    authorities: list[AuthorityChange] = field(default_factory=list)
    actions: list[Script] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Row:
    """A row on its way to a table, with what merging needs.

    Args:
        stamp: "date time" of the last change that MQ tells, '' where it does not.
        partial: a null in `values` is not known (True) or MQ's default (False).
        shown: the columns that the text tells, where that is known better than by `partial`.
    """

    table: str
    values: dict[str, object]
    file: str
    line: int
    stamp: str = ""
    partial: bool = False
    shown: frozenset[str] | None = None

    def knows(self, column: str) -> bool:
        """True where the text tells this column's value."""
        known = self.known()
        return known is None or column in known

    def known(self) -> frozenset[str] | None:
        """The columns that the text tells; None = all."""
        if self.shown is not None or not self.partial:
            return self.shown
        return frozenset(column for column, value in self.values.items() if value is not None)
