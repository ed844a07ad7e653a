"""What the Python API answers: records with pandas DataFrames, shown as text and as HTML."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import pandas as pd

from clwl_spark.api.shown import HtmlTable, fragment, frame_of, text_of
from clwl_spark.studies.explain.planned import EXPECTED_SHARE
from clwl_spark.studies.explain.rendering import headline, render
from clwl_spark.studies.explain.request import Explanation
from clwl_spark.studies.explain.wording import verdict_text
from clwl_spark.studies.trace import rendering as of_traces
from clwl_spark.studies.trace.trace import Trace
from clwl_spark.studies.what_if.moves import AFTER, BEFORE
from clwl_spark.studies.what_if.run import WhatIf
from clwl_spark.tables import ROUTE_CANDIDATES, ROUTE_PLANS
from clwl_spark.tables import columns as c

ROUTE: Final = (
    c.DEST_QMGR, c.DEST_OBJECT, c.CHANNEL, c.CLUSTER, c.XMITQ, c.IS_LOCAL, c.CLWLWGHT,
    EXPECTED_SHARE,
)  # fmt: skip
_PUT: Final = (c.QMGR, c.OBJECT_TYPE, c.OBJECT_NAME, c.OBJECT_QMGR)
_PLACE: Final = (c.QMGR, c.OBJECT_NAME, c.OBJECT_QMGR)
_SHOWN: Final = 15


@dataclass(frozen=True, slots=True, repr=False)
class Explained:
    """Where a put goes, and why.

    Attributes:
        explanation: what `studies.explain.request` found.
    """

    explanation: Explanation

    @property
    def plan(self) -> pd.DataFrame:
        """What the request resolves to: one row, the columns of the table `route_plans`."""
        return frame_of([self.explanation.plan], ROUTE_PLANS.names)

    @property
    def candidates(self) -> pd.DataFrame:
        """One row per candidate: the columns of `route_candidates`, and `why` it lost ('' = not).

        The routes have no `eliminated_by`.
        """
        return frame_of(self.explanation.candidates, [*ROUTE_CANDIDATES.names, "why"])

    @property
    def routes(self) -> pd.DataFrame:
        """One row per route, with `expected_share` of the messages, 0 to 1, in the long run."""
        return frame_of(self.explanation.routes, ROUTE)

    def __repr__(self) -> str:
        return text_of(render(self.explanation))

    def _repr_html_(self) -> str:
        """For notebooks: candidates with their verdicts, and routes."""
        plan, found = self.explanation.plan, self.explanation
        path = plan[c.RESOLUTION_PATH] or []
        way = f", by way of {' > '.join(path)}" if len(path) > 1 else ""
        notes = [f"snapshot {plan[c.SNAPSHOT_ID]}{way}", *found.notes, *found.warnings]
        return fragment(headline(found), notes, [_candidates(found), _routes(found)])


def _candidates(found: Explanation) -> HtmlTable:
    headings = (
        "destination", "channel", "cluster", "rank", "prty", "netprty", "status", "verdict",
    )  # fmt: skip
    rows = [
        (
            _destination(row),
            str(row[c.CHANNEL]),
            " / ".join(dict.fromkeys((row[c.INSTANCE_CLUSTER], row[c.CHANNEL_CLUSTER]))),
            f"{row[c.CHANNEL_RANK]}/{row[c.QUEUE_RANK]}",
            f"{row[c.CHANNEL_PRTY]}/{row[c.QUEUE_PRTY]}",
            str(row[c.NETPRTY]),
            str(row[c.STATUS]),
            verdict_text(row, row["why"]),
        )
        for row in found.candidates
    ]
    strong = [at for at, row in enumerate(found.candidates) if row[c.ELIMINATED_BY] is None]
    return HtmlTable("candidates", headings, rows, ("rank", "prty", "netprty"), strong)


def _routes(found: Explanation) -> HtmlTable:
    headings = ("share", "destination", "channel", "cluster", "transmission queue", "weight")
    rows = [
        (
            f"{row[EXPECTED_SHARE]:.1%}",
            _destination(row),
            str(row[c.CHANNEL]),
            str(row[c.CLUSTER]),
            row[c.XMITQ] or "-",
            str(row[c.CLWLWGHT]),
        )
        for row in found.routes
    ]
    return HtmlTable("routes", headings, rows, ("share", "weight"))


def _destination(row: Mapping[str, Any]) -> str:
    if row[c.IS_LOCAL]:
        return f"{row[c.DEST_QMGR]} (local)"
    return f"{row[c.DEST_QMGR]} (alias)" if row.get(c.IS_ALIAS) else str(row[c.DEST_QMGR])


@dataclass(frozen=True, slots=True, repr=False)
class Moved:
    """What a change would move; counts are of outcomes, `before` and `after`.

    Attributes:
        answer: what `studies.what_if.run` found.
    """

    answer: WhatIf

    @property
    def by_queue_manager(self) -> pd.DataFrame:
        """One row per destination queue manager, the greatest changes first."""
        return frame_of(self.answer.moves.by_qmgr, (c.DEST_QMGR, BEFORE, AFTER))

    @property
    def by_channel(self) -> pd.DataFrame:
        """One row per remote channel."""
        return frame_of(self.answer.moves.by_channel, (c.DEST_QMGR, c.CHANNEL, BEFORE, AFTER))

    @property
    def by_object(self) -> pd.DataFrame:
        """One row per request and where its messages go; the channel of local ones is missing."""
        names = (*_PUT, c.DEST_QMGR, c.CHANNEL, BEFORE, AFTER)
        return frame_of(self.answer.moves.by_object, names)

    @property
    def failing(self) -> pd.DataFrame:
        """One row per request and MQRC that it ends with, before or after."""
        return frame_of(self.answer.moves.by_reason, (*_PUT, c.REASON, BEFORE, AFTER))

    @property
    def stranded(self) -> pd.DataFrame:
        """One row per request of which nothing gets away any more, and something did before."""
        return frame_of(self.answer.moves.stranded, (*_PUT, BEFORE, AFTER))

    @property
    def new_hosts(self) -> pd.DataFrame:
        """One row per definition that a queue's new host needs: on itself, or on others."""
        rows = [
            {"new_host": x.new, c.OBJECT_NAME: x.place.object_name, **asdict(need)}
            for x in self.answer.new_hosts
            for need in (*x.on_new, *x.on_others)
        ]
        return frame_of(rows, ("new_host", c.OBJECT_NAME, c.QMGR, "command", "why"))

    @property
    def summary(self) -> str:
        """The answer in one sentence."""
        found, said = self.answer.moves, "; ".join(self.answer.said)
        share = found.moved / found.before if found.before else 0.0
        lost = len(found.stranded)
        return (
            f"What if {said}: of {found.before:,} outcomes on snapshot {self.answer.snapshot_id}, "
            f"{found.moved:,} ({share:.1%}) go elsewhere; {found.failed[0]:,} failed, then "
            f"{found.failed[1]:,}; {found.waiting[0]:,} wait for a channel that is down, then "
            f"{found.waiting[1]:,}; {lost or 'no'} request{'' if lost == 1 else 's'} "
            f"lose{'s' if lost == 1 else ''} the last route"
        )

    def __repr__(self) -> str:
        shown = [f"{name}\n{part.to_string(index=False)}" for name, part in self._changed()]
        return "\n\n".join([self.summary, *shown])

    def _repr_html_(self) -> str:
        """For notebooks: what is another number after the change than before."""
        tables = []
        for name, part in self._changed():
            rows = [
                [_cell(value) for value in row] for row in part.itertuples(index=False, name=None)
            ]
            tables.append(HtmlTable(name, list(part.columns), rows, (BEFORE, AFTER, c.REASON)))
        return fragment(self.summary, [], tables)

    def _changed(self) -> list[tuple[str, pd.DataFrame]]:
        """The first rows of each table that has a change."""
        told = {
            "by queue manager": self.by_queue_manager,
            "by channel": self.by_channel,
            "by object": self.by_object.drop(columns=c.OBJECT_TYPE),
            "failing": self.failing.drop(columns=c.OBJECT_TYPE),
        }
        moved = [(name, part[part[BEFORE] != part[AFTER]]) for name, part in told.items()]
        moved.append(("stranded", self.stranded.drop(columns=c.OBJECT_TYPE)))
        return [(name, part.head(_SHOWN)) for name, part in moved if len(part)]


def _cell(value: object) -> str:
    """A cell as text; a missing channel is that of messages that stay."""
    if value is None:
        return "(local)"
    return f"{value:,}" if isinstance(value, int) else str(value)


@dataclass(frozen=True, slots=True, repr=False)
class Traced:
    """A put followed to its final queues.

    Attributes:
        trace: what `studies.trace.trace` found.
    """

    trace: Trace

    @property
    def hops(self) -> pd.DataFrame:
        """One row per hop and put that follows from it, with the `share` of the hop's messages.

        `visits` is how often a message comes to the hop; a hop that goes nowhere on has no
        `next_qmgr`.
        """
        own = ("hop", *_PLACE, "via", "object_type", "kind", "reason", "visits")
        onward = ("next_qmgr", "next_object_name", "next_object_qmgr", "share")
        rows = []
        for hop in self.trace.to_json()["hops"]:
            for after in hop["next"] or [dict.fromkeys((*_PLACE, "share"))]:
                ways = {"share": after["share"], **{f"next_{x}": after[x] for x in _PLACE}}
                rows.append({**{x: hop[x] for x in own}, **ways})
        return frame_of(rows, (*own, *onward))

    @property
    def ends(self) -> pd.DataFrame:
        """One row per final queue, with the `share` of all messages, 0 to 1."""
        return frame_of(self.trace.to_json()["ends"], ("qmgr", "queue", "share"))

    @property
    def dead_ends(self) -> pd.DataFrame:
        """One row per ending that is no queue."""
        names = (*_PLACE, "end", "reason", "xmitq", "share")
        return frame_of(self.trace.to_json()["dead_ends"], names)

    def __repr__(self) -> str:
        return text_of(of_traces.render(self.trace))

    def _repr_html_(self) -> str:
        """For notebooks: the hops, and the final queues."""
        tables = []
        for name, part in (("hops", self.hops), ("ends", self.ends), ("dead ends", self.dead_ends)):
            shares = part["share"].map(lambda x: "" if pd.isna(x) else f"{x:.1%}")
            shown = part.assign(share=shares).astype(object).where(part.notna(), "")
            rows = [[str(x) for x in row] for row in shown.itertuples(index=False, name=None)]
            tables.append(HtmlTable(name, list(part.columns), rows, ("share", "visits", "hop")))
        return fragment(of_traces.headline(self.trace), [], tables)
