"""A snapshot that no gate has anything to say of, and changes to its rows, without Spark."""

import copy
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType
from small_worlds import (
    action,
    alias,
    authority,
    message_channel,
    proxy,
    qmgr,
    queue,
    queue_status,
    rcvr,
    remote,
    sender,
    topic,
)

from clwl_spark.checks.quality import ordered
from clwl_spark.checks.quality.results import GateResult, Verdict
from clwl_spark.checks.quality.suites import Gates
from clwl_spark.checks.quality.validate import judge_rows
from clwl_spark.checks.quality.views import BEFORE, SNAPSHOT_TABLES, SnapshotRows
from clwl_spark.planning import put_authority
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.tables import QUEUE_STATUS, TABLES, Table

World = dict[str, list[dict[str, Any]]]
Change = Callable[[World], None]

QMGRS = ("FR1", "FR2", "QM1", "QM2")


def clussdr(name: str, dest: str, cluster: str = "K", **more: Any) -> tuple[str, dict[str, Any]]:
    row = {"qmgr": name, "channel": f"TO.{dest}", "cluster": cluster, **more}
    return "cluster_senders", {"conname": f"{dest.lower()}(1414)", **row}


def in_order(
    name: str, object_name: str, bind: str, object_qmgr: str = ""
) -> tuple[str, dict[str, Any]]:
    """Messages that were put in logical order, without groups."""
    row = {"qmgr": name, "object_name": object_name, "object_qmgr": object_qmgr, "bind": bind}
    return ordered.TABLE, {**row, "in_group": False, "messages": 7}


def good_world() -> World:
    """Two clusters; K has queues and a topic; every kind of object that a rule looks at."""
    channels = [
        rcvr(
            name,
            cluster,
            conname=f"{name.lower()}(1414)",
            qmtype="REPOS" if name.startswith("FR") else "NORMAL",
        )
        for name in QMGRS
        for cluster in ("K", "L")
    ]
    senders = [
        clussdr(name, "FR2" if name == "FR1" else "FR1", cluster)
        for name in QMGRS
        for cluster in ("K", "L")
    ]
    definitions = [
        *(qmgr(name, qmid=f"{name}_2024-05-06", defxmitq="") for name in QMGRS),
        qmgr("OUT", qmid="OUT_2024-05-06", defxmitq="OUT.DEFAULT"),
        queue("OUT", "OUT.DEFAULT", usage="XMITQ"),
        *channels,
        *senders,
        queue("QM1", "APP.Q", "K", defbind="NOTFIXED"),
        queue("QM2", "APP.Q", "K", defbind="NOTFIXED"),
        queue("QM1", "NEWS.Q", "K", defbind="NOTFIXED"),
        queue("QM2", "NEWS.Q", "K", defbind="NOTFIXED"),
        alias("FR1", "APP.ALIAS", "APP.Q"),
        remote("FR1", "FAR.Q", "APP.Q", "QM1"),
        remote("FR1", "OUT.Q", "X", "ELSEWHERE", xmitq="TO.ELSEWHERE"),
        queue("FR1", "TO.ELSEWHERE", usage="XMITQ"),
        message_channel("FR1", "FR1.ELSEWHERE", "TO.ELSEWHERE", conname="far(1414)"),
        message_channel("FR1", "FR1.BACK", "", chltype="SVR"),
        message_channel("FR1", "FR1.BACK.2", "", chltype="SVR"),
        message_channel("OUT", "OUT.FAR", "OUT.DEFAULT"),
        queue("FR1", "QM1.XMIT", usage="XMITQ", clchname="TO.QM1"),
        queue("FR1", "SYSTEM.CLUSTER.COMMAND.QUEUE"),
        *(
            queue_status(name, "SYSTEM.CLUSTER.COMMAND.QUEUE", curdepth=0, ipprocs=1)
            for name in QMGRS
        ),
        in_order("FR1", "APP.Q", "ON_OPEN"),
        in_order("FR1", "APP.Q", "NOT_FIXED", "QM1"),
        authority("FR1", "SYSTEM.CLUSTER.**", "app", "BROWSE"),
        action("FR1", "RESET CHANNEL(TO.FR2) SEQNUM(1)"),
        authority("FR1", "**", "app", "PUT"),
        authority("FR1", "APP.ALIAS", "app", "PUT"),
        authority("FR1", "**", "mqm", "GET,PUT"),
        authority("FR1", "**", "mqm@HOST", "GET,PUT"),
        queue_status("FR1", "SYSTEM.CLUSTER.REPOSITORY.QUEUE", curdepth=7),
        queue_status("FR1", "SYSTEM.CLUSTER.TRANSMIT.QUEUE", curdepth=0),
        sender("FR1", "QM1", "RUNNING", xmitq="QM1.XMIT"),
        sender("FR1", "QM2", "RETRYING"),
        topic("FR1", "NEWS", "/news"),
        topic("FR2", "NEWS", "/news"),
        proxy("QM1", "/news", "FR2"),
        ("subscriptions", {"qmgr": "QM1", "sub_name": "S1", "topicstr": "/news", "dest": "NEWS.Q"}),
        ("views", {"observer": "QM1", "table": "queues", "whole": True}),
        ("queues", queue("QM2", "APP.Q", "K", defbind="NOTFIXED")[1] | {"observer": "QM1"}),
        ("cluster_channels", rcvr("QM2", clwlrank=0)[1] | {"observer": "QM1"}),
    ]
    world: World = {table.name: [] for table in SNAPSHOT_TABLES}
    world[BEFORE] = []
    world[ordered.TABLE] = []
    for table, row in definitions:
        world[table].append({"snapshot_id": "S1", "observer": "*", **row})
    return world


def declared(name: str) -> Table:
    """The declaration of a table; the status of queues before has that of their status."""
    return QUEUE_STATUS if name == BEFORE else TABLES[name]


def rows_of(world: World) -> SnapshotRows:
    """The world in memory."""
    arrow = {}
    for name, rows in world.items():
        if name == ordered.TABLE:
            cells = [{column: row[column] for column in ordered.SCHEMA.names} for row in rows]
            arrow[name] = pa.Table.from_pylist(cells, ordered.SCHEMA)
            continue
        table = declared(name)
        cells = [{column: row.get(column) for column in table.names} for row in rows]
        arrow[name] = pa.Table.from_pylist(cells, table.arrow(table.names))
    found = put_authority.put_authority(world["authorities"])
    puts = [x._asdict() for x in found]
    arrow[put_authority.TABLE] = pa.Table.from_pylist(puts, put_authority.SCHEMA)
    return SnapshotRows(arrow, {})


DDLS = {put_authority.TABLE: put_authority.DDL, ordered.TABLE: ordered.DDL}


def frames_of(spark: SparkSession, rows: SnapshotRows) -> dict[str, DataFrame]:
    """The same in Spark."""
    frames = {}
    for name, table in rows.arrow.items():
        schema: StructType | str = DDLS.get(name, "")
        if not schema:
            fields = declared(name).schema
            schema = StructType([StructField(x.name, x.dataType) for x in fields])
        frames[name] = frame_from_rows(spark, table.to_pylist(), schema)
    return frames


def changed(*changes: Change) -> World:
    """The good world after these changes."""
    world = copy.deepcopy(good_world())
    for change in changes:
        change(world)
    return world


def judged(world: World, gates: Gates) -> list[GateResult]:
    """What the gates say; of tables that are as in the good world, expectations are left out."""
    good = good_world()
    there = tuple(x for x in gates.expectations if world[x.table] != good[x.table])
    gates = Gates(there, gates.rules)
    return judge_rows(None, rows_of(world), gates)  # type: ignore[arg-type]  (all is in memory)


def complaints(world: World, gates: Gates) -> set[str]:
    """Names of the gates that say no; none may be unable to."""
    results = judged(world, gates)
    assert [x.gate for x in results if x.verdict == Verdict.ERROR] == []
    return {x.gate for x in results if x.verdict == Verdict.FAILED}


def setting(table: str, where: dict[str, Any], /, **values: Any) -> Change:
    """Change rows; there must be some."""

    def change(world: World) -> None:
        rows = [x for x in world[table] if where.items() <= x.items()]
        assert rows
        for row in rows:
            row.update(values)

    return change


def without(table: str, **where: Any) -> Change:
    """Take rows away; there must be some."""

    def change(world: World) -> None:
        kept = [x for x in world[table] if not where.items() <= x.items()]
        assert len(kept) < len(world[table])
        world[table] = kept

    return change


def adding(*definitions: tuple[str, dict[str, Any]]) -> Change:
    """Add rows."""

    def change(world: World) -> None:
        for table, row in definitions:
            world[table].append({"snapshot_id": "S1", "observer": "*", **row})

    return change
