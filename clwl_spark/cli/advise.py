"""`clwl advise`: weights that give wanted shares."""

from collections.abc import Iterator

from rich.console import RenderableType

from clwl_spark.cli.tables import listing
from clwl_spark.cli.words.options import Common
from clwl_spark.cli.words.what_if import AdviseWords
from clwl_spark.cli.work import asked_snapshot, at_work
from clwl_spark.planning.plans import Ladder
from clwl_spark.rules.exit import load_exit
from clwl_spark.snapshots.defined import check_qmgr, names_defined
from clwl_spark.snapshots.semantics import semantics_of
from clwl_spark.snapshots.views import read_topology
from clwl_spark.spark.materialize import checkpoint
from clwl_spark.studies.shares.advice import Advice, advise, wanted_shares
from clwl_spark.studies.shares.traffic import Puts
from clwl_spark.tables import SNAPSHOTS
from clwl_spark.tables import columns as c

_SHOWN = 12


def run(common: Common, options: AdviseWords) -> int:
    """Advise, and return the exit code."""
    wanted = wanted_shares(options.want)
    own = {"exit": options.exit}
    with at_work("advise", common, own, needs=SNAPSHOTS.name) as work:
        snapshot_id = asked_snapshot(work.lake, options)
        ladder = Ladder(semantics_of(work.lake), load_exit(work.settings.exit))
        topology = read_topology(work.lake, [snapshot_id], checkpoint)
        check_qmgr(options.qmgr, names_defined(topology), snapshot_id)
        put = Puts(options.qmgr, options.object_name)
        found = advise(put, wanted, snapshot_id, topology, ladder)
        work.screen.document(found.to_json())
        work.screen.show(*_rendered(found))
    return 0


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
        yield f"nearest that weights can: hosts are within {float(found.error):.2%} of one another"
    weights = [
        (x[c.DEST_QMGR], x[c.CHANNEL], str(x[c.CLWLWGHT]), str(x["advised"]), str(x["step"]))
        for x in found.weights
    ]
    numbers = {"now", "CLWLWGHT", "step"}
    yield ""
    yield listing(("queue manager", "channel", "now", "CLWLWGHT", "step"), weights, numbers)
    yield from ("", *(found.commands or ["nothing is to be changed"]))
    if not found.others:
        yield f"no other of {found.objects - 1:,} objects with these hosts changes its shares"
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
