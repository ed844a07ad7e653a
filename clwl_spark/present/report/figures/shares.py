"""Where each sender's messages to an object went, beside where they were expected to go."""

from collections.abc import Sequence
from typing import Final

from clwl_spark.present.report.data import ObjectShares, Share
from clwl_spark.present.report.drawing import ACCENT, FAINT
from clwl_spark.present.report.figure import Figure, headings
from clwl_spark.present.report.figures.bars import Bar, bars
from clwl_spark.present.report.words import count, counted, named, percent, told_apart, way

_NAME: Final = 17
_STAYS: Final = "stays there"


def share_figures(found: Sequence[ObjectShares]) -> list[Figure]:
    """One figure per sender and object, in the order given."""
    return [_figure(at, one) for at, one in enumerate(found, 1)]


def _figure(at: int, one: ObjectShares) -> Figure:
    compared = any(x.expected is not None for x in one.shares)
    words = _ways(one)
    columns = (
        headings("Destination", "Channel", "Messages", "Share", "Expected", numbers=3)
        if compared
        else headings("Destination", "Channel", "Messages", "Share", numbers=2)
    )
    rows = [_row(one, x, compared=compared) for x in one.shares]
    notes: tuple[str, ...] = ()
    if one.others:
        ways = counted(one.ways - len(one.shares), "other way")
        notes = (f"{counted(one.others, 'message')} took {ways}.",)
    return Figure(
        f"shares-{at}",
        f"{named(one.object_name)} from {named(one.qmgr)}",
        _label(one),
        bars(_bars(one, words), longest=1.0, width=300),
        columns,
        tuple(rows),
        notes,
    )


def _bars(one: ObjectShares, words: Sequence[str]) -> list[Bar]:
    """A bar per way, and one for all others."""
    found = [
        Bar(word, x.messages / one.messages, _text(one, x), ACCENT, x.expected)
        for word, x in zip(words, one.shares, strict=True)
    ]
    if one.others:
        share = one.others / one.messages
        found.append(Bar("other ways", share, percent(share), FAINT))
    return found


def _ways(one: ObjectShares) -> list[str]:
    """Destinations as the chart names them, channels only where a destination has several."""
    dests = [x.dest_qmgr for x in one.shares]
    names = [
        x.channel if x.channel and dests.count(x.dest_qmgr) > 1 else x.dest_qmgr for x in one.shares
    ]
    return told_apart(names, _NAME)


def _text(one: ObjectShares, share: Share) -> str:
    actual = percent(share.messages / one.messages)
    return actual if share.expected is None else f"{actual} ({percent(share.expected)})"


def _row(one: ObjectShares, share: Share, *, compared: bool) -> tuple[str, ...]:
    channel = named(share.channel) if share.channel else _without_channel(one, share)
    row = (
        named(share.dest_qmgr), channel, count(share.messages),
        percent(share.messages / one.messages),
    )  # fmt: skip
    return (*row, percent(share.expected or 0.0)) if compared else row


def _without_channel(one: ObjectShares, share: Share) -> str:
    return _STAYS if share.dest_qmgr == one.qmgr else "transmission queue"


def _label(one: ObjectShares) -> str:
    """Where most went."""
    first = max(one.shares, key=lambda x: x.messages)
    expected = "" if first.expected is None else f", where {percent(first.expected)} was expected"
    ways = "all" if first.messages == one.messages else percent(first.messages / one.messages)
    return (
        f"Of {counted(one.messages, 'message')} that {named(one.qmgr)} put to "
        f"{named(one.object_name)}, {ways} went to {way(first.dest_qmgr, first.channel)}{expected}."
    )
