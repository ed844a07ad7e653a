"""`clwl advise`: weights that give wanted shares, and what another host of a queue would need."""

from collections.abc import Iterator

from rich.console import RenderableType

from clwl_spark.cli.commands.advise import AdviseWords
from clwl_spark.cli.options import Common
from clwl_spark.cli.tables import listing
from clwl_spark.cli.work import Work, asked_snapshot, at_work
from clwl_spark.errors import UsageError
from clwl_spark.planning.plans import Ladder
from clwl_spark.rules.exit import load_exit
from clwl_spark.snapshots.contradictions import consistent_topology
from clwl_spark.snapshots.defined import check_qmgr, names_defined
from clwl_spark.snapshots.semantics import semantics_of
from clwl_spark.spark.materialize import checkpoint
from clwl_spark.studies.new_host.needs import DESIGN_TEXTS
from clwl_spark.studies.new_host.run import NewHost, new_host
from clwl_spark.studies.shares.advice import Advice, NotAdvisableError, advise, wanted_shares
from clwl_spark.studies.shares.traffic import Puts
from clwl_spark.studies.trace.places import Place
from clwl_spark.tables import SNAPSHOTS
from clwl_spark.tables import columns as c

_SHOWN = 12


def run(common: Common, options: AdviseWords) -> int:
    """Advise, and return the exit code."""
    if (options.want is None) == (options.add_host is None):
        raise UsageError("say what is wanted: --want QM=N,QM=N, or --add-host QM, one of the two")
    if options.want is not None and options.object_qmgr:
        raise UsageError(
            "--object-qmgr goes with --add-host: weights are those of an object's hosts, whoever "
            "names a queue manager; leave it out"
        )
    wanted = None if options.want is None else wanted_shares(options.want)
    own = {"exit": options.exit}
    with at_work("advise", common, own, needs=SNAPSHOTS.name) as work:
        snapshot_id = asked_snapshot(work.lake, options)
        ladder = Ladder(semantics_of(work.lake), load_exit(work.settings.exit))
        if wanted is None:
            _show_new_host(work, options, snapshot_id, ladder)
            return 0
        topology = consistent_topology(work.lake, [snapshot_id], checkpoint)
        check_qmgr(options.qmgr, names_defined(topology), snapshot_id)
        put = Puts(options.qmgr, options.object_name)
        try:
            found = advise(put, wanted, snapshot_id, topology, ladder)
        except NotAdvisableError as error:
            words = ("--from", put.qmgr, "--object", put.object_name, "--snapshot", snapshot_id)
            raise NotAdvisableError(f"{error}; see: {work.command('explain', *words)}") from error
        work.screen.document(found.to_json())
        work.screen.show(*_rendered(found))
    return 0


def _show_new_host(work: Work, options: AdviseWords, snapshot_id: str, ladder: Ladder) -> None:
    """What another host would need."""
    place = Place(options.qmgr, options.object_name, options.object_qmgr)
    found = new_host(work.lake, place, str(options.add_host), snapshot_id, ladder)
    work.screen.document(found.to_json())
    work.screen.show(*needed(found))


def needed(found: NewHost) -> Iterator[RenderableType]:
    """What another host of a queue needs, per design."""
    hosts = ", ".join(found.hosts)
    yield f"{found.place.object_name} put at {found.place.qmgr} goes to {hosts}"
    yield f"{found.design}: {DESIGN_TEXTS[found.design]}"
    rows = [(x.qmgr, x.command, x.why) for x in (*found.on_new, *found.on_others)]
    yield ""
    yield listing(("on", "definition", "why"), rows)
    if found.share is not None:
        got = f"{found.share:.2%} of these messages" if found.share else "nothing"
        why = f" ({found.why_nothing})" if found.why_nothing else ""
        yield f"with that, {found.new} gets {got}{why}"
    if found.unchanged:
        yield f"{found.unchanged:,} other queue managers of these clusters need no change"


def _nearest(found: Advice) -> str:
    """How far off the weights leave the host whose share they meet worst.

    All channels of a host are given one weight, so that several of them may do better.
    """
    shares = found.shares
    off = max(shares, key=lambda x: max(x["after"] / x["wanted"], x["wanted"] / x["after"]))
    alike = "" if len(found.weights) == len(shares) else " that are alike on all channels of a host"
    return (
        f"no weights{alike} give these shares: they are the nearest, and furthest off is "
        f"{off[c.DEST_QMGR]} with {off['after']:.2%}, not {off['wanted']:.2%}"
    )


def _rendered(found: Advice) -> Iterator[RenderableType]:
    put = found.put
    yield f"{put.object_name} put at {put.qmgr}, snapshot {found.snapshot_id}"
    shares = [
        (x[c.DEST_QMGR], *(f"{x[name]:.2%}" for name in ("wanted", "before", "after")))
        for x in found.shares
    ]
    yield ""
    yield listing(("queue manager", "wanted", "now", "then"), shares, {"wanted", "now", "then"})
    if found.error:
        yield _nearest(found)
    weights = [
        (x[c.DEST_QMGR], x[c.CHANNEL], str(x[c.CLWLWGHT]), str(x["advised"]), str(x["step"]))
        for x in found.weights
    ]
    numbers = {"now", "CLWLWGHT", "step"}
    yield ""
    yield listing(("queue manager", "channel", "now", "CLWLWGHT", "step"), weights, numbers)
    yield from ("", *(found.commands or ["nothing is to be changed"]))
    if not found.others:
        others = found.objects - 1
        none = f"no other of {others:,} objects with these hosts changes its shares"
        yield none if others > 0 else "no other object has these hosts"
        return
    moved = [(x[c.OBJECT_NAME], f"{x['moved']:.2%}") for x in found.others[:_SHOWN]]
    yield ""
    title = f"{len(found.others):,} of {found.objects - 1:,} other objects change as well"
    yield listing(
        ("object", "of its messages elsewhere"), moved, {"of its messages elsewhere"}, title
    )
    yield (
        f"a weight is a channel's: CLUSRCVRs of a cluster of their own for {put.object_name} would "
        "leave the others alone"
    )
