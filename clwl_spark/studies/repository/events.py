"""What happens in a cluster, and how a TOML file tells it. No Spark."""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from clwl_spark.errors import UsageError
from clwl_spark.settings import duration, moment
from clwl_spark.small_files import read_toml
from clwl_spark.studies.repository.state import RepositoryError
from clwl_spark.studies.repository.words import Kind, Want

_Name = Annotated[str, Field(min_length=1, max_length=48)]


class Do(StrEnum):
    """What happens.

    Reasons for a REFRESH: BACKUP and RESTORE (the queue manager goes back to its last backup),
    PURGE (messages between repositories that wait for it are removed), DISCONNECT and CONNECT of
    two queue managers (`of` is the other one), CONNAME (that of its CLUSRCVR is altered).

    Of a queue manager: JOIN (as a full repository with `full`), LEAVE in good order, LOSE (deleted
    without leaving), RECREATE under the same name with another QMID, STOP, START, SUSPEND, RESUME,
    PROMOTE to a full repository, DEMOTE to a partial one, REFRESH CLUSTER, RESET CLUSTER of a
    `qmid` on a full repository. Of an object: DEFINE, ALTER, DELETE. OPEN is an MQOPEN of a queue
    or, with `of`, of a queue manager. WAIT lets time pass.
    """

    JOIN = "join"
    LEAVE = "leave"
    LOSE = "lose"
    RECREATE = "recreate"
    STOP = "stop"
    START = "start"
    SUSPEND = "suspend"
    RESUME = "resume"
    PROMOTE = "promote"
    DEMOTE = "demote"
    REFRESH = "refresh"
    RESET = "reset"
    DEFINE = "define"
    ALTER = "alter"
    DELETE = "delete"
    OPEN = "open"
    BACKUP = "backup"
    RESTORE = "restore"
    PURGE = "purge"
    DISCONNECT = "disconnect"
    CONNECT = "connect"
    CONNAME = "conname"
    WAIT = "wait"


_OF_OBJECTS = (Do.DEFINE, Do.ALTER, Do.DELETE)
_OF_TWO = (Do.DISCONNECT, Do.CONNECT)


class Event(BaseModel):
    """One thing that happens.

    Attributes:
        at: when: a moment, or the time since the start (`36h`, `30d`).
        do: what.
        qmgr: on which queue manager; WAIT needs none.
        queue: name of a queue.
        topic: name of a topic.
        of: with OPEN: name of a queue manager that is opened; with DISCONNECT and CONNECT: the
            other one.
        attributes: with DEFINE, ALTER and JOIN: what the object says.
        full: with JOIN and RECREATE: a full repository.
        prefers: with JOIN and RECREATE: full repositories with a manually defined CLUSSDR.
        qmid: with JOIN and RECREATE: its identity; with RESET: whose objects go.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    at: datetime | timedelta
    do: Do
    qmgr: _Name | None = None
    queue: _Name | None = None
    topic: _Name | None = None
    of: _Name | None = None
    attributes: dict[str, Any] = Field(default_factory=dict)
    full: bool = False
    prefers: tuple[_Name, ...] = ()
    qmid: _Name | None = None

    @model_validator(mode="before")
    @classmethod
    def _read_times(cls, told: Any) -> Any:  # noqa: ANN401  (whatever a file has there)
        """`at` as written: a moment of TOML, an ISO text, or a duration."""
        if isinstance(told, dict) and isinstance(told.get("at"), str):
            return told | {"at": _time(told["at"])}
        return told

    @model_validator(mode="after")
    def _says_enough(self) -> Self:
        """Each kind of event names what it is about."""
        needs = {
            "qmgr": self.do is not Do.WAIT,
            "queue or topic": self.do in _OF_OBJECTS,
            "queue or of": self.do is Do.OPEN,
            "of": self.do in _OF_TWO,
            "qmid": self.do is Do.RESET,
        }
        for what, needed in needs.items():
            given = [name for name in what.split(" or ") if getattr(self, name) is not None]
            if needed and len(given) != 1:
                raise ValueError(f"{self.do.value}: give {what}")
        return self

    @property
    def want(self) -> Want:
        """The object that it is about; a queue manager by its name."""
        if self.queue is not None:
            return Want(Kind.QUEUE, self.queue)
        if self.topic is not None:
            return Want(Kind.TOPIC, self.topic)
        return Want(Kind.QMGR, str(self.of or self.qmgr))


class Story(BaseModel):
    """Events of one cluster.

    Attributes:
        cluster: its name.
        start: what times without a date count from.
        events: in any order; those of one moment happen in the order in which they stand.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    cluster: _Name
    start: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    events: Annotated[tuple[Event, ...], Field(min_length=1)]

    def moment_of(self, at: datetime | timedelta) -> datetime:
        """A time of the story as a moment; a moment without a zone is UTC."""
        found = self.start + at if isinstance(at, timedelta) else at
        return found if found.tzinfo else found.replace(tzinfo=UTC)

    def in_order(self) -> list[tuple[datetime, Event]]:
        """The events with their moments, in the order in which they happen."""
        timed = [(self.moment_of(event.at), event) for event in self.events]
        return sorted(timed, key=lambda pair: pair[0])


def read_story(path: Path) -> Story:
    """The story that a TOML file tells.

    Raises:
        RepositoryError: no such file, no TOML, an unknown name, or an event that lacks something.
    """
    try:
        told, _ = read_toml(path)
    except UsageError as error:
        raise RepositoryError(str(error)) from error
    return make_story(told, str(path))


def make_story(told: dict[str, Any], where: str) -> Story:
    """The story that these values tell; `where` names their place in errors.

    Raises:
        RepositoryError: an unknown name, or an event that lacks something.
    """
    try:
        story = Story.model_validate(told)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(x) for x in first["loc"])
        words = str(first["msg"]).removeprefix("Value error, ")
        raise RepositoryError(f"{where}: {place}: {words}") from error
    if story.start.tzinfo is None:
        return story.model_copy(update={"start": story.start.replace(tzinfo=UTC)})
    return story


def _time(text: str) -> datetime | timedelta:
    """A duration or a moment; pydantic wants its own kind of error."""
    try:
        return duration(text) if text[-1:].isalpha() and "T" not in text else moment(text)
    except UsageError as error:
        raise ValueError(f"at: {error}") from error
