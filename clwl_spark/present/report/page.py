"""The report as one HTML page: charts and styles within it, no script, nothing fetched."""

from dataclasses import dataclass
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from clwl_spark.present.conformity import parts as parts_seen
from clwl_spark.present.report.data import Head, ReportData
from clwl_spark.present.report.drawing import unchecked
from clwl_spark.present.report.figure import Figure
from clwl_spark.present.report.figures.cluster import cluster_figure
from clwl_spark.present.report.figures.flows import flows
from clwl_spark.present.report.figures.missing import failure_figures
from clwl_spark.present.report.figures.publishing import publication_figures
from clwl_spark.present.report.figures.rules import funnel_figure
from clwl_spark.present.report.figures.shares import share_figures
from clwl_spark.present.report.publications import Publication
from clwl_spark.present.report.surprises import MOST, Surprise, surprises
from clwl_spark.present.report.words import count, counted, joined, moment, named, percent
from clwl_spark.routing.ledger.own_opens import own_opens_told
from clwl_spark.studies.conform.model import Conformity
from clwl_spark.studies.conform.wording import summary

_PAGES: Final = Environment(
    loader=PackageLoader("clwl_spark.present.report"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_NAMED_SNAPSHOTS: Final = 5


@dataclass(frozen=True, slots=True)
class Part:
    """One section of the page.

    Attributes:
        key: the section's id.
        title: its heading.
        lead: a sentence below it; blank = none.
        figures: its charts.
        nothing: what stands there if it has none.
        html: what else stands there, as Markup.
    """

    key: str
    title: str
    lead: str
    figures: tuple[Figure, ...]
    nothing: str = ""
    html: str = ""


def page(data: ReportData) -> str:
    """The whole page."""
    found = surprises(data)
    with unchecked():
        parts = _parts(data)
    return _PAGES.get_template("report.html").render(
        data=data,
        title=f"Where the messages of {named(_last_part(data.head.lake))} went",
        sentence=sentence(data, found),
        tiles=_tiles(data.head),
        facts=_facts(data.head),
        surprises=found[:MOST],
        more=_more(found[MOST:]),
        parts=parts,
        count=count,
        named=named,
        safe_svg=Markup,
    )


def sentence(data: ReportData, found: list[Surprise]) -> str:
    """What the report comes to."""
    head = data.head
    arrived = head.outcomes - head.failed
    told = (
        f"{counted(head.messages, 'message')} gave {counted(head.outcomes, 'outcome')}: "
        f"{percent(arrived / max(head.outcomes, 1))} have a destination"
    )
    ends = [f"{count(head.failed)} failed"] if head.failed else []
    ends += [f"{counted(head.rejected, 'message')} could not be routed"] if head.rejected else []
    told += f", {joined(ends)}" if ends else ", none failed"
    waiting = counted(head.waiting, "message") if head.waiting else "no message"
    told += f"; {waiting} {'were' if head.waiting > 1 else 'was'} put to a channel that was down"
    if not found:
        return f"{told}; nothing was out of the ordinary."
    most = found[0]
    return f"{told}; what concerns most messages is {most.about}, {count(most.messages)} of them."


def _last_part(lake: str) -> str:
    """What people call a lake: the last part of its folder or catalog schema."""
    return lake.rstrip("/").rsplit("/", 1)[-1]


def _tiles(head: Head) -> list[tuple[str, str, str]]:
    """(figure, what it counts, tone) of the head."""
    return [
        (count(head.messages), "messages", ""),
        (count(head.outcomes), "outcomes", ""),
        (count(head.failed), "failed", "no" if head.failed else "dim"),
        (count(head.waiting), "waiting", "no" if head.waiting else "dim"),
        (count(head.rejected), "rejected", "no" if head.rejected else "dim"),
    ]


def _facts(head: Head) -> list[tuple[str, str]]:
    """(name, value) of the head."""
    snapshots = [
        f"{named(x.snapshot_id)} ({counted(x.outcomes, 'outcome')}, since {moment(x.valid_from)})"
        for x in head.snapshots[:_NAMED_SNAPSHOTS]
    ]
    if more := head.snapshots[_NAMED_SNAPSHOTS:]:
        snapshots.append(f"{count(len(more))} more")
    return [
        ("Lake", named(head.lake, 300)),
        ("Put", f"{moment(head.first)} to {moment(head.last)}"),
        ("Snapshots", joined(snapshots) or "none"),
        ("Rules", f"in the order of {head.algorithm}"),
        *(("Opens", x) for x in own_opens_told(head.own_opens)),
    ]


def _more(rest: list[Surprise]) -> str:
    """What is left out of the list."""
    if not rest:
        return ""
    return (
        f"{count(len(rest))} more, of at most {counted(rest[0].messages, 'message')} each; "
        "clwl report --json lists them."
    )


def _parts(data: ReportData) -> list[Part]:
    """The sections with charts, in the page's order."""
    head, shared = data.head, sum(x.messages for x in data.shares)
    lead = ""
    if (more := data.pairs - len(data.shares)) > 0:
        lead = (
            f"The {len(data.shares)} busiest of {count(data.pairs)} pairs of object and sender; "
            f"{counted(more, 'other pair')} had {counted(data.paired - shared, 'message')}, "
            f"{percent((data.paired - shared) / max(data.paired, 1))} of all."
        )
    if any(share.expected is not None for one in data.shares for share in one.shares):
        lead += " Solid bars are what happened, hollow ones and figures in brackets were expected."
    return [
        Part("map", "Cluster map", "", (cluster_figure(data.cluster),)),
        Part(
            "shares", "Shares", lead.strip(), tuple(share_figures(data.shares)),
            "No message has a destination.",
        ),
        Part("rules", "Rules", "", (funnel_figure(data.funnel, head.algorithm),)),
        Part("flows", "Flows over time", "", (flows(head, data.timeline),)),
        Part(
            "failures", "Failures", "", tuple(failure_figures(head, data.failures)),
            "Nothing failed, and nothing was rejected.",
        ),
        *_followed(data.publications),
        *_seen(data.conformity),
    ]  # fmt: skip


def _followed(found: tuple[Publication, ...]) -> list[Part]:
    """The section on publications; none where there are none."""
    if not found:
        return []
    lead = (
        "Where publications went, through topic hosts, to the subscriptions that get them. "
        "What a topic host sends on goes to every queue manager that subscribes."
    )
    return [Part("publications", "Publications", lead, tuple(publication_figures(found)))]


def _seen(found: Conformity | None) -> list[Part]:
    """The section on records of where messages went; none where there are no records."""
    if found is None:
        return []
    told = summary(found)
    html = Markup(parts_seen(found, 3))  # noqa: S704  (all names are escaped there)
    return [
        Part("conformity", "Predictions and what was seen", f"{told[0].upper()}{told[1:]}.", (),
             html=html)
    ]  # fmt: skip
