"""A small routed lake that the tests of questions share, as Spark and as DuckDB have it."""

from datetime import timedelta

import pytest
from deltalake import DeltaTable
from questions.asking import EVIL, LATE, NOBODYS, all_rows, duck, select_all, with_views
from small_worlds import NOON, at, message, qmgr, queue, rcvr, sender, snapshot, tables
from waiting_worlds import routed_lake
from worlds import put_rows

from clwl_spark.present.questions.running import prepared
from clwl_spark.present.questions.texts import Question, all_questions, all_views
from clwl_spark.routing.run import RouteOptions, route
from clwl_spark.tables import TABLES


def _topology():
    """Four queue managers in K: A puts, B, C and D host; from S2 on C is suspended."""
    for name in ("S1", "S2"):
        parts = [qmgr("A"), *(rcvr(x) for x in "AB"), rcvr("D"), rcvr("E")]
        parts += [rcvr("C", suspended=name == "S2"), rcvr("H", clwlwght=10)]
        parts += [
            *(queue(x, "ORDERS", "K", defbind="NOTFIXED") for x in "BC"),
            queue("D", "ORDERS", "K", defbind="NOTFIXED", put_enabled=name == "S2"),
            *(queue(x, "WEIGHTED", "K", defbind="NOTFIXED") for x in "BH"),
            *(queue(x, "ONCE", "K", defbind="OPEN") for x in "BD"),
            queue("B", "PRIOR", "K", defbind="NOTFIXED", clwlprty=5),
            queue("D", "PRIOR", "K", defbind="NOTFIXED"),
            queue("E", "LONELY", "K", defbind="NOTFIXED"),
            queue("B", NOBODYS, "K", qtype=None),  # null is QLOCAL
            queue("B", "SYSTEM.NOBODYS", "K"),
            sender("A", "E", "RETRYING"),
        ]
        yield from at(name, *parts)


def _batches():
    """What A puts: first all but one message, then the one that comes late."""
    kinds = [
        ("ORDERS", {"msg_length": 100}), ("ORDERS", {}), ("WEIGHTED", {"msg_length": 7}),
        ("PRIOR", {}), ("LONELY", {}), (EVIL, {}),
    ]  # fmt: skip
    puts = []
    for seq in range(1, 301):
        to, more = kinds[seq % len(kinds)]
        when = NOON + timedelta(minutes=seq)
        puts.append(message("A", to, seq, put_time=when, **more))
    opens = [1] * 40 + [2] * 10 + [3] * 40
    puts += [
        message("A", "ONCE", 300 + n, put_time=NOON + timedelta(hours=6), bind="ON_OPEN", open_id=x)
        for n, x in enumerate(opens, 1)
    ]
    puts.append(message("A", "ORDERS", 400, put_time=NOON, bind="SOMETIMES"))
    # In one hour to one queue manager, by a channel and without one.
    puts.append(message("B", "ORDERS", 1, put_time=NOON + timedelta(minutes=6)))
    # A topic may have a queue's name.
    puts.append(message("A", NOBODYS, 401, put_time=NOON, object_type="TOPIC"))
    return [x for x in puts if x["put_seq"] != LATE], [x for x in puts if x["put_seq"] == LATE]


@pytest.fixture(scope="package")
def lake(spark, tmp_path_factory):
    heads = [snapshot("S1"), snapshot("S2", 2), snapshot("S9", 1, "QUARANTINED")]
    first, late = _batches()
    rows = tables(*heads, *_topology())
    lake = routed_lake(spark, tmp_path_factory.mktemp("asked") / "lake", rows, first)
    put_rows(lake, "messages", late)
    route(lake, RouteOptions(state_partitions=2))
    return lake


@pytest.fixture(scope="package")
def outcomes(lake):
    return DeltaTable(lake.path("outcomes")).to_pyarrow_table().to_pylist()


@pytest.fixture(scope="package")
def sizes(lake):
    rows = DeltaTable(lake.path("messages")).to_pyarrow_table().to_pylist()
    return {(x["qmgr"], x["put_seq"]): x["msg_length"] for x in rows}


@pytest.fixture(scope="package")
def duckdb_lake(lake):
    read = {name: DeltaTable(lake.path(name)).to_pyarrow_dataset() for name in TABLES}
    return with_views(duck(read))


@pytest.fixture(scope="package")
def named(lake):
    views = [Question(x, "", "", select_all(x)) for x in all_views()]
    with prepared(lake, [*views, *all_questions().values()]) as named:
        yield named


@pytest.fixture(scope="package")
def answered(named):
    """Each question's rows, from Spark."""
    return {name: all_rows(named, question) for name, question in all_questions().items()}
