"""Publications and their copies, hop by hop, with the subscriptions that get them."""

from collections.abc import Sequence
from typing import Final

from clwl_spark.present.report.drawing import ACCENT, FAINT
from clwl_spark.present.report.figure import Figure, headings
from clwl_spark.present.report.figures.bars import Bar, bars
from clwl_spark.present.report.publications import Copies, Publication
from clwl_spark.present.report.words import count, counted, joined, named, told_apart
from clwl_spark.studies.trace.subscriptions import Subscription

_DRAWN: Final = 16
_NAME: Final = 40
_NAMED: Final = 3
"""Subscriptions that stand beside a bar; the table has all."""


def publication_figures(found: Sequence[Publication]) -> list[Figure]:
    """One figure for each publisher, topic string and snapshot."""
    return [_figure(at, one) for at, one in enumerate(found, 1)]


def _figure(at: int, one: Publication) -> Figure:
    drawn = one.copies[:_DRAWN]
    names = told_apart([_way(x) for x in drawn], _NAME)
    notes = [f"{len(one.copies) - _DRAWN} more in the table."] if one.copies[_DRAWN:] else []
    if one.own:
        notes.append(
            f"{_listed(one.own)} on {named(one.qmgr)} itself: served there, without a choice."
        )
    return Figure(
        f"publication-{at}",
        f"{named(one.topic)} published on {named(one.qmgr)}, snapshot {named(one.snapshot_id)}",
        _told(one),
        bars(
            [
                Bar(name, x.messages, _beside(x), FAINT if x.is_sent_on else ACCENT)
                for name, x in zip(names, drawn, strict=True)
            ],
            longest=1.9 * max(x.messages for x in drawn),
        ),
        headings("From", "To", "Over", "Subscriptions", "Copies", numbers=1),
        tuple(
            (named(x.at_qmgr), named(x.dest_qmgr), named(x.channel) if x.channel else "stays",
             joined([_one(y) for y in x.subscriptions]) or _none(x), count(x.messages))
            for x in one.copies
        ),
        tuple(notes),
    )  # fmt: skip


def _told(one: Publication) -> str:
    """How many copies come to how many subscriptions."""
    hosts = {x.dest_qmgr for x in one.copies if x.is_sent_on}
    met = {(y.qmgr, y.sub_name) for x in one.copies for y in x.subscriptions}
    met |= {(y.qmgr, y.sub_name) for y in one.own}
    by = f", by way of {counted(len(hosts), 'topic host')}" if hosts else ""
    ends = counted(len(met), "subscription") if met else "no subscription that the snapshot has"
    return f"{counted(one.outcomes, 'outcome')}{by}, for {ends}."


def _way(copies: Copies) -> str:
    if copies.dest_qmgr == copies.at_qmgr:
        return f"{copies.at_qmgr} keeps"
    return f"{copies.at_qmgr} to {copies.dest_qmgr}"


def _beside(copies: Copies) -> str:
    return f"{count(copies.messages)}  {_listed(copies.subscriptions) or _none(copies)}".rstrip()


def _none(copies: Copies) -> str:
    """What stands where no subscription is known."""
    return "sent on" if copies.is_sent_on else ""


def _listed(subscriptions: Sequence[Subscription]) -> str:
    """Their names; of many the first ones."""
    told = [named(x.sub_name, _NAME) for x in subscriptions[:_NAMED]]
    more = len(subscriptions) - len(told)
    return joined([*told, f"{more} more"] if more else told)


def _one(subscription: Subscription) -> str:
    into = f" into {named(subscription.dest)}" if subscription.dest else ""
    return f"{named(subscription.sub_name)}{into}"
