"""Hand-made report data: a day of a parcel service, and clusters of any size."""

from datetime import UTC, datetime, timedelta

from clwl_spark.present.report.data import (
    ClusterMap,
    Edge,
    Funnel,
    Head,
    Node,
    ObjectShares,
    ReportData,
    Share,
    SnapshotUse,
    Timeline,
)
from clwl_spark.present.report.findings import (
    ChannelStory,
    Deviation,
    Failure,
    Failures,
    Move,
)
from clwl_spark.studies.conform.model import Conformity, Disagreement

FIRST = datetime(2026, 9, 14, 8, tzinfo=UTC)
HOUR = timedelta(hours=1)
STEP = 600_000_000
SCRIPT = "<script>alert(1)</script>"
LONG = "VERY.LONG/" * 400
BIDI = "a\u202eb\x00c"


def parcels() -> ReportData:
    """Every section has something to tell; 4,300 outcomes, 50 failed, 7 rejected."""
    start = int(FIRST.timestamp()) * 1_000_000
    counts: dict[tuple[int, str | None], int] = {}
    for step in range(26):
        counts[start + step * STEP, "DEPOT1"] = 100 if step < 13 else 20
        counts[start + step * STEP, "DEPOT2"] = 40 if step < 13 else 120
        counts[start + step * STEP, None] = 3
    return ReportData(
        Head(
            "build/lake", FIRST, FIRST + 4 * HOUR, 4_307, 4_300, 50, 7,
            snapshots=(
                SnapshotUse("monday", FIRST - HOUR, 2_000),
                SnapshotUse("noon", FIRST + 2 * HOUR, 2_300),
            ),
        ),
        ClusterMap(
            (
                Node("SHOP1", 2_500, 0), Node("DEPOT1", 0, 1_700, 60),
                Node("DEPOT2", 100, 800), Node("HUB1", 700, 300, 40),
            ),
            (
                Edge("SHOP1", "DEPOT1", "FREIGHT.DEPOT1", "RUNNING", 1_200),
                Edge("HUB1", "DEPOT1", "FREIGHT.DEPOT1", "INACTIVE", 500),
                Edge("SHOP1", "DEPOT2", "FREIGHT.DEPOT2", "STARTING", 500),
                Edge("HUB1", "DEPOT2", None, None, 200),
                Edge("DEPOT2", "DEPOT1", "FREIGHT.DEPOT1", "STOPPED", 0),
                Edge("SHOP1", "DEPOT1", "FREIGHT.DEPOT1.SAT", "RETRYING", 0),
            ),
            4, 6,
        ),
        (
            ObjectShares(
                "SHOP1", "PARCEL.IN", 1_400,
                (
                    Share("DEPOT1", "FREIGHT.DEPOT1", 1_000, 0.5),
                    Share("DEPOT2", "FREIGHT.DEPOT2", 300, 0.5),
                ),
                100, 5,
            ),
            ObjectShares("HUB1", "TARIFF", 500, (Share("HUB1", None, 500),), 0, 1),
        ),
        3, 2_000,
        (
            Deviation(
                "SHOP1", "PARCEL.IN", 1_400, 300, "DEPOT1", "FREIGHT.DEPOT1", 0.714, 0.5
            ),
        ),
        (Move("noon", "SHOP1", "PARCEL.IN", 900, 450, "DEPOT2", "FREIGHT.DEPOT2", 0.25, 0.75),),
        (ChannelStory("SHOP1", "HUB2", "RETAIL.HUB2", "INACTIVE", "TARIFF", 220),),
        (
            ChannelStory(
                "SHOP1", "DEPOT1", "FREIGHT.DEPOT1.SAT", "RETRYING", "PARCEL.IN", 1_700, 8
            ),
        ),
        Funnel(9_000, {1: 400, 2: 1_200, 8: 1_700, 12: 300, 0: 100}, 3_000),
        Timeline(STEP, ("DEPOT1", "DEPOT2"), counts),
        Failures(
            (
                Failure("SHOP2", "PARCEL.BOOK", "", 2085, 25, 25),
                Failure("SHOP1", "PARCEL.BOOK", "DEPOT9", 2087, 20, 400),
                Failure("SHOP1", "fleet/van 7", "", 9999, 1, 1, "TOPIC"),
            ),
            4, {"NO_SNAPSHOT": 5, "UNKNOWN_BIND": 2}, {"SHOP3": 12},
        ),
    )  # fmt: skip


def one_outcome() -> ReportData:
    """A lake with a single message, put at one moment."""
    at = int(FIRST.timestamp()) * 1_000_000
    return ReportData(
        Head("lake", FIRST, FIRST, 1, 1, 0, 0, snapshots=(SnapshotUse("s", FIRST - HOUR, 1),)),
        ClusterMap((Node("QM1", 0, 0, 1),), (), 1, 0),
        (ObjectShares("QM1", "Q", 1, (Share("QM1", None, 1),), 0, 1),), 1, 1,
        timeline=Timeline(1_000, ("QM1",), {(at, "QM1"): 1}),
    )  # fmt: skip


def nasty(name: str) -> ReportData:
    """The same name in every place that a name can have."""
    at = int(FIRST.timestamp()) * 1_000_000
    return ReportData(
        Head(name, FIRST, FIRST + HOUR, 9, 9, 1, 1, snapshots=(
            SnapshotUse(name, FIRST, 9), SnapshotUse(f"{name}2", FIRST + HOUR / 2, 9),
        )),
        ClusterMap(
            (Node(name, 5, 0), Node(f"{name}2", 0, 5)),
            (Edge(name, f"{name}2", name, name, 5),), 2, 1,
        ),
        (ObjectShares(name, name, 9, (
            Share(name, name, 5, 0.5), Share(f"{name}2", name, 4, 0.5)
        ), 0, 2),), 1, 9,
        (Deviation(name, name, 9, 9, name, name, 1.0, 0.5),),
        (Move(name, name, name, 9, 9, name, name, 0.0, 1.0),),
        (ChannelStory(name, name, name, name, name, 9),),
        (ChannelStory(name, name, name, name, name, 9, 9),),
        Funnel(9, {1: 3}, 3),
        Timeline(60_000_000, (name, f"{name}2"), {
            (at, name): 1, (at, f"{name}2"): 1, (at + 3_600_000_000, name): 1,
        }),
        Failures((Failure(name, name, name, 2085, 1, 1),), 0, {name: 1}, {name: 1}),
        conformity=seen(name),
    )  # fmt: skip


def crowd(size: int) -> ReportData:
    """A ring of queue managers with spokes; the busiest 40 of `size` are in the map."""
    nodes = tuple(Node(f"QM{at:03d}", 4_000 - 7 * at, 10 * at) for at in range(min(size, 40)))
    edges = tuple(
        Edge(one.qmgr, nodes[(at * step + step) % len(nodes)].qmgr, f"TO.{at}.{step}",
             ("RUNNING", "INACTIVE", "RETRYING")[at % 3], 5_000 // (at + step))
        for at, one in enumerate(nodes) for step in (1, 3)
    )  # fmt: skip
    base = parcels()
    return ReportData(base.head, ClusterMap(nodes, edges, size, 2 * size), base.shares)


def seen(name: str = "APP1") -> Conformity:
    """Two queue managers: of one all records agree, of the other 30 of 40; the name is its own."""
    ends = {"reason": 0, "dest_qmgr": name, "channel": name, "xmitq": None}
    first = Disagreement(
        name, 6, "2026-09-14T08:00:05Z", name, ends, {**ends, "dest_qmgr": "SRV2"}, "WEIGHT",
        f"CLWLWGHT of {name} is 25, not 50", 40, 40, 1,
        [{"cause": "WEIGHT", "told": name, "fits": 40, "of": 40, "also": [name]}],
        f"on {name}: DISPLAY CLUSQMGR(*)", candidates=[{"dest_qmgr": name, "why": name}],
    )  # fmt: skip
    own, other = {"compared": 40, "agree": 30}, {"compared": 60, "agree": 60}
    return Conformity(
        103, 100, 90,
        [{"qmgr": name, "object_name": name, **own}, {"qmgr": "APP2", "object_name": "Q", **other}],
        [{"qmgr": name, **own}, {"qmgr": "APP2", **other}],
        [{"qmgr": name, "channel": name, "predicted": 40, "seen": 40, "agree": 30}],
        [{"reason": "table messages has no such message", "n": 3}], [first],
    )  # fmt: skip
