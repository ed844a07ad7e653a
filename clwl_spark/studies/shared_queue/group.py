"""What a simulation of a queue-sharing group is told, and how a TOML file tells it. No Spark.

Source: IBM's page on shared queues; where it gives no figures, the defaults below are orders of
magnitude of a sysplex and every one of them can be set.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from clwl_spark.errors import InputError, UsageError
from clwl_spark.small_files import read_toml

MOST_QUEUE_MANAGERS = 32
"""As many queue managers as a sysplex has members."""

_Name = Annotated[str, Field(min_length=1, max_length=48)]
_Share = Annotated[float, Field(ge=0, le=1)]
_Milliseconds = Annotated[float, Field(ge=0, le=3_600_000)]
_Variation = Literal["exponential", "fixed"]


class SharingGroupError(InputError):
    """A queue-sharing group that cannot be simulated."""


class _Told(BaseModel):
    """Frozen; a name that is not known is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Member(_Told):
    """A queue manager of the group.

    Attributes:
        name: the queue manager.
        getters: applications connected to it that get from the queue with wait.
        service_ms: mean time that one of them needs for a message on an idle machine.
        service: whether service times vary (exponential) or are all `service_ms`.
        busy: share of the machine that other work takes, 0 to below 1; service and answers
            take 1 / (1 - busy) times as long.
        local_ms: mean time from a local put to the get by a waiting local getter.
        answer_ms: mean time from a notification to the get by a waiting getter.
    """

    name: _Name
    getters: Annotated[int, Field(ge=0, le=1000)] = 0
    service_ms: Annotated[float, Field(gt=0, le=3_600_000)] = 1.0
    service: _Variation = "exponential"
    busy: Annotated[float, Field(ge=0, lt=1)] = 0.0
    local_ms: _Milliseconds = 0.05
    answer_ms: _Milliseconds = 0.5

    @property
    def slower(self) -> float:
        """How many times as long everything takes for being busy."""
        return 1 / (1 - self.busy)


class Putter(_Told):
    """An application that puts to the queue.

    Attributes:
        queue_manager: where it is connected: the local queue manager of its puts.
        rate: messages a second.
        arrivals: puts at random moments (poisson), or `1 / rate` apart (even).
        persistent: share of its messages that are persistent.
        syncpoint: share of its messages put in syncpoint, whether persistent or not. Their time
            is that of the commit, since nobody can get them earlier.
    """

    queue_manager: _Name
    rate: Annotated[float, Field(gt=0, le=1_000_000)]
    arrivals: Literal["poisson", "even"] = "poisson"
    persistent: _Share = 0.0
    syncpoint: _Share = 0.0

    @property
    def direct_share(self) -> float:
        """Share of its messages that may go straight to a waiting getter."""
        return (1 - self.persistent) * (1 - self.syncpoint)


class SharingGroup(_Told):
    """A queue-sharing group, a shared queue and those who use it.

    Attributes:
        name: the queue-sharing group.
        queue: the shared queue.
        queue_managers: its members, each name once.
        putters: who puts.
        notification_ms: time from a list transition to a notified queue manager.
        messages: messages of one run; a run ends when all are got.
        runs: repetitions, each with its own random numbers.
        seed: chooses the random numbers.
        confidence: level of the intervals, 0.5 to 0.999.
    """

    name: _Name = "QSG1"
    queue: _Name = "SHARED.QUEUE"
    queue_managers: Annotated[
        tuple[Member, ...], Field(min_length=1, max_length=MOST_QUEUE_MANAGERS)
    ]
    putters: Annotated[tuple[Putter, ...], Field(min_length=1, max_length=1000)]
    notification_ms: _Milliseconds = 0.2
    messages: Annotated[int, Field(ge=1, le=10_000_000)] = 1000
    runs: Annotated[int, Field(ge=10, le=1_000_000)] = 1000
    seed: Annotated[int, Field(ge=0, le=2**62)] = 1
    confidence: Annotated[float, Field(ge=0.5, le=0.999)] = 0.95

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        """Names are unique, putters are connected to members, and somebody gets."""
        names = [member.name for member in self.queue_managers]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"queue manager {twice} is there twice: leave one out")
        strange = next((x for x in self.putters if x.queue_manager not in names), None)
        if strange is not None:
            raise ValueError(
                f"putter on {strange.queue_manager}: no queue manager of {self.name} "
                f"({', '.join(names)}): correct the name or add it"
            )
        if not any(member.getters for member in self.queue_managers):
            raise ValueError(
                f"nobody gets from {self.queue}: give at least one queue manager of {self.name} "
                "a getter"
            )
        return self


def read_entries(path: Path) -> dict[str, Any]:
    """What a TOML file tells of a group, not checked yet.

    Raises:
        SharingGroupError: no such file, or no TOML.
    """
    try:
        return read_toml(path)[0]
    except UsageError as error:
        raise SharingGroupError(str(error)) from error


def make_group(told: Mapping[str, Any], where: str) -> SharingGroup:
    """The group that these values tell; `where` names their place in errors.

    Raises:
        SharingGroupError: an unknown name, a value that cannot be, or a group without getters.
    """
    try:
        return SharingGroup.model_validate(told)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(x) for x in first["loc"])
        words = str(first["msg"]).removeprefix("Value error, ")
        detail = f"{place}: {words}" if place else words
        raise SharingGroupError(f"{where}: {detail}") from error
