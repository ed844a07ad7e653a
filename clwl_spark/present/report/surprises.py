"""What a reader may not expect, each in a sentence with its figures, most messages first."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from shlex import quote
from typing import Any, Final, TypeVar

from clwl_spark.algorithm.ladder import PUT_ENABLED, RESUMED
from clwl_spark.mq.vocabulary import ObjectType, RejectError
from clwl_spark.present.report.data import ReportData
from clwl_spark.present.report.findings import ChannelStory, Deviation, Failure, Move
from clwl_spark.present.report.words import count, counted, named, percent, reason, request, way

MOST: Final = 15


class Kind(StrEnum):
    """What sort of surprise it is."""

    FAILS = "FAILS"
    REJECTED = "REJECTED"
    DEVIATES = "DEVIATES"
    HELD = "HELD"
    AVOIDED = "AVOIDED"
    MOVED = "MOVED"
    IDLE = "IDLE"
    LATE = "LATE"


_Found = TypeVar("_Found", ChannelStory, Failure)


@dataclass(frozen=True, slots=True)
class Surprise:
    """One surprise.

    Attributes:
        kind: what sort it is.
        about: the object, channel or queue manager that it is about.
        messages: how many messages it concerns.
        sentence: what was found, with figures.
        ask: a command that says more; blank = none does.
    """

    kind: Kind
    about: str
    messages: int
    sentence: str
    ask: str = ""

    def to_json(self) -> dict[str, Any]:
        """Its part of the document of `clwl report --json`."""
        return asdict(self)


def surprises(data: ReportData) -> list[Surprise]:
    """All of them, those first that concern most messages."""
    found = sorted(_all(data), key=lambda x: (-x.messages, x.kind, x.about, x.sentence))
    place = data.head.place
    return [replace(x, ask=f"{x.ask} {place}") if x.ask and place else x for x in found]


def _all(data: ReportData) -> Iterator[Surprise]:
    newest = data.head.newest
    yield from (_failing(_looked_up(x, newest)) for x in data.failures.rows)
    yield from (_rejected(error, n) for error, n in data.failures.rejected.items())
    yield from (_late(qmgr, n) for qmgr, n in data.failures.out_of_order.items())
    yield from map(_deviating, data.deviations)
    yield from map(_moved, data.moves)
    yield from (_waiting(_looked_up(x, newest)) for x in data.held)
    yield from (_kept_from(_looked_up(x, newest)) for x in data.avoided)
    yield from (_idle(_looked_up(x, newest)) for x in data.idle)


def _looked_up(found: _Found, newest: str) -> _Found:
    """Without the snapshot where a command looks at it anyhow."""
    return replace(found, snapshot_id="") if found.snapshot_id == newest else found


def _failing(found: Failure) -> Surprise:
    name = request(found.object_name, found.object_qmgr)
    which = (
        f"All {counted(found.messages, 'message')}"
        if found.messages == found.asked > 1
        else "The one message"
        if found.asked == 1
        else f"{count(found.messages)} of {counted(found.asked, 'message')}"
    )
    return Surprise(
        Kind.FAILS,
        name,
        found.messages,
        f"{which} put on {named(found.qmgr)} to {name} ended with {reason(found.reason)}.",
        _explain(found, found.object_qmgr, found.snapshot_id),
    )


_REJECTED: Final = {
    RejectError.NO_QMGR: "they have no queue manager",
    RejectError.NO_PUT_SEQ: "they have no put_seq",
    RejectError.NO_PUT_TIME: "they have no put_time",
    RejectError.UNKNOWN_OBJECT_TYPE: "their object_type is neither QUEUE nor TOPIC",
    RejectError.NO_OBJECT: "they name no object",
    RejectError.UNKNOWN_BIND: "MQ has no such bind option",
    RejectError.UNKNOWN_VIA: "their via is neither LOCAL nor CLUSTER",
    RejectError.BAD_NUMBER: "their put_seq or open_id is no whole number of 64 bits",
    RejectError.BAD_PUT_TIME: "their put_time is no moment of the years 1 to 9999",
    RejectError.NOT_UTF8: "a name of theirs is not UTF-8",
    RejectError.NO_SNAPSHOT: "no valid snapshot was in force when they were put",
    RejectError.DUPLICATE: "their qmgr, put_seq and message_id are those of a routed message",
}


def why_rejected(error: str) -> str:
    """An error of rejected_messages in words; blank = it is not one of this package's."""
    return _REJECTED[RejectError(error)] if error in list(RejectError) else ""


def _rejected(error: str, messages: int) -> Surprise:
    told = why_rejected(error)
    what = "came again" if error == RejectError.DUPLICATE else "could not be routed at all"
    sentence = f"{counted(messages, 'message')} {what}, {named(error)}"
    return Surprise(
        Kind.REJECTED, named(error), messages, f"{sentence}: {told}." if told else f"{sentence}."
    )


def _late(qmgr: str, messages: int) -> Surprise:
    return Surprise(
        Kind.LATE,
        named(qmgr),
        messages,
        f"{counted(messages, 'outcome')} of {named(qmgr)} came out of order: routing had already "
        "met a greater put_seq, so the history that they were balanced by is not what it was.",
    )


def _deviating(found: Deviation) -> Surprise:
    name = named(found.object_name)
    return Surprise(
        Kind.DEVIATES,
        name,
        found.misplaced,
        f"{way(found.dest_qmgr, found.channel)} got {percent(found.share)} of what "
        f"{named(found.qmgr)} put to {name}, {percent(found.expected)} was expected: "
        f"{count(found.misplaced)} of {counted(found.messages, 'message')} went otherwise.",
        _explain(found),
    )


def _moved(found: Move) -> Surprise:
    name = named(found.object_name)
    return Surprise(
        Kind.MOVED,
        name,
        found.moved,
        f"With snapshot {named(found.snapshot_id)}, {count(found.moved)} of "
        f"{counted(found.messages, 'message')} that {named(found.qmgr)} put to {name} went "
        f"otherwise than before: {way(found.dest_qmgr, found.channel)} got {percent(found.after)}"
        f", before {percent(found.before)}.",
        _explain(found, snapshot_id=found.snapshot_id),
    )


def _waiting(found: ChannelStory) -> Surprise:
    channel = named(found.channel)
    return Surprise(
        Kind.HELD,
        channel,
        found.messages,
        f"{counted(found.messages, 'message')} put on {named(found.qmgr)} wait for {channel} to "
        f"{named(found.dest_qmgr)}, which was down when they were put; most of them to "
        f"{_asked(found)}.",
        _explain(found, found.object_qmgr, found.snapshot_id),
    )


def _kept_from(found: ChannelStory) -> Surprise:
    channel, dest = named(found.channel), named(found.dest_qmgr)
    because = {
        PUT_ENABLED: f"the instance on {dest} is put-disabled (rule 5)",
        RESUMED: f"{dest} is suspended (rule 7)",
    }.get(
        found.rule or 0,
        f"{channel} is {named(found.status)} and another channel is better (rule {found.rule})",
    )
    return Surprise(
        Kind.AVOIDED,
        channel,
        found.messages,
        f"{counted(found.messages, 'message')} put on {named(found.qmgr)} could not take "
        f"{channel} to {dest}: {because}; most of them to {_asked(found)}.",
        _explain(found, found.object_qmgr, found.snapshot_id),
    )


def _idle(found: ChannelStory) -> Surprise:
    return Surprise(
        Kind.IDLE,
        named(found.channel),
        found.messages,
        f"{named(found.channel)} to {named(found.dest_qmgr)} carried nothing from "
        f"{named(found.qmgr)}, though it was a route of "
        f"{counted(found.messages, 'message')}; most of them to {_asked(found)}.",
        _explain(found, found.object_qmgr, found.snapshot_id),
    )


def _asked(found: ChannelStory) -> str:
    return request(found.object_name, found.object_qmgr)


def _explain(
    found: Deviation | Move | ChannelStory | Failure, object_qmgr: str = "", snapshot_id: str = ""
) -> str:
    """The command that explains such a put; blank where a name cannot be copied as it is shown."""
    names = (found.qmgr, found.object_name, object_qmgr, snapshot_id)
    if any(name and named(name, len(name)) != name for name in names):
        return ""
    words = ["clwl explain --from", quote(found.qmgr), "--object", quote(found.object_name)]
    if object_qmgr.strip():
        words += ["--object-qmgr", quote(object_qmgr)]
    if found.object_type == ObjectType.TOPIC:
        words += ["--object-type TOPIC"]
    if snapshot_id:
        words += ["--snapshot", quote(snapshot_id)]
    return " ".join(words)
