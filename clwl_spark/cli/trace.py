"""`clwl trace`: one put followed over all queue managers."""

from collections.abc import Sequence

from clwl_spark import tables as schemas
from clwl_spark.cli.commands.trace import TraceWords
from clwl_spark.cli.options import Common
from clwl_spark.cli.work import Work, asked_snapshot, at_work
from clwl_spark.errors import UsageError
from clwl_spark.mq.vocabulary import ObjectType
from clwl_spark.planning.plans import Ladder
from clwl_spark.rules.exit import load_exit
from clwl_spark.snapshots.semantics import semantics_of
from clwl_spark.studies.topics.strings import check_topic_string
from clwl_spark.studies.trace.places import Place
from clwl_spark.studies.trace.rendering import render
from clwl_spark.studies.trace.trace import TraceRequest, trace


def run(common: Common, options: TraceWords) -> int:
    """Trace the put that the options describe, and return the exit code."""
    own = {"algorithm": options.algorithm, "exit": options.exit}
    links = read_links(options.link)
    if options.object_type == ObjectType.TOPIC:
        check_topic_string(options.object_name)
    with at_work("trace", common, own, needs=schemas.SNAPSHOTS.name) as work:
        found = trace(work.lake, _request(options, work, links))
        work.screen.document(found.to_json())
        work.screen.show(render(found))
    return 0


def read_links(texts: Sequence[str]) -> dict[tuple[str, str], str]:
    """The `QM:XMITQ=QM2` texts of --link.

    Raises:
        UsageError: one cannot be read.
    """
    links = {}
    for text in texts:
        where, _, other = text.partition("=")
        qmgr, _, xmitq = where.partition(":")
        if not (qmgr and xmitq and other):
            raise UsageError(f"--link {text}: give QM:XMITQ=QM2, like --link QM1:TO.GATE=GATE1")
        links[qmgr, xmitq] = other
    return links


def _request(options: TraceWords, work: Work, links: dict[tuple[str, str], str]) -> TraceRequest:
    semantics = work.settings.wanted.or_those(semantics_of(work.lake))
    return TraceRequest(
        place=Place(
            options.qmgr,
            options.object_name,
            options.object_qmgr,
            options.via.value,
            options.object_type.value,
        ),
        snapshot_id=asked_snapshot(work.lake, options) if options.at else options.snapshot,
        ladder=Ladder(semantics, load_exit(work.settings.exit)),
        links=links,
        most_hops=options.hops,
    )
