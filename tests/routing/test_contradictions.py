"""Rows of one key that other programs wrote twice."""

import json
from datetime import UTC, datetime

from clwl_spark.cli import main
from clwl_spark.delta.lake import Lake
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.tables import MESSAGES, QUEUES

TEXT = """
DEFINE CHANNEL(TO.QM1) CHLTYPE(CLUSRCVR) CONNAME('one(1414)') CLUSTER(K)
DEFINE QLOCAL(APP.Q) CLUSTER(K)
"""


def append(lake, table, rows):
    cells = [tuple(row.get(name) for name in table.names) for row in rows]
    lake.append(table.name, frame_from_rows(lake.spark, cells, table.schema))


def test_a_key_that_is_there_twice_is_refused_at_the_run_and_named(spark, tmp_path, capsys):
    (tmp_path / "QM1.mqsc").write_text(TEXT)
    place = ["--lake", str(tmp_path / "lake")]
    words = ["--snapshot", "S1", "--observer", "QM1", "--valid-from", "2026-09-14T06:00:00Z"]
    assert main(["ingest", str(tmp_path / "QM1.mqsc"), *words, *place]) == 0
    lake = Lake(spark, str(tmp_path / "lake"))
    lake.create([MESSAGES])
    at = datetime(2026, 9, 14, 7, tzinfo=UTC)
    append(lake, MESSAGES, [{"qmgr": "QM1", "put_seq": 1, "put_time": at, "object_name": "APP.Q"}])
    (row,) = lake.rows(QUEUES.name)
    append(lake, QUEUES, [{**row, "clwlrank": 9}])
    capsys.readouterr()
    assert main(["route", *place]) == 2
    said = capsys.readouterr().err
    assert "keys are there more than once: queues (S1, *, QM1, APP.Q, K) 2 times" in said

    lake.delete(QUEUES.name, "snapshot_id", "S1")
    append(lake, QUEUES, [row])
    assert main(["route", *place, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["by_reason"] == {"0": 1}

    append(lake, QUEUES, [{**row, "clwlrank": 9}])
    capsys.readouterr()
    asked = ["--from", "QM1", "--object", "APP.Q", *place]
    of_all = [["insights", *place], ["separation", *place]]
    for words in (*([x, *asked] for x in ("explain", "trace", "shares")), *of_all):
        assert main(words) == 2, words
        assert "queues (S1, *, QM1, APP.Q, K) 2 times" in capsys.readouterr().err
    lake.delete(QUEUES.name, "snapshot_id", "S1")
    append(lake, QUEUES, [row])
    assert main(["snapshots", "--drop", "S1", *place]) == 2
    assert "has been used by routing: it stays" in capsys.readouterr().err
