"""Re-allocation and a switch of a million waiting messages against routing a million new ones.

One application sends over two channels, half of its messages over each. Then one channel stops and
the half that waits for it chooses anew; or it starts, and the half that waits moves to the
transmission queue that was defined meanwhile. Goals: re-allocation costs at most twice what routing
costs, a switch takes seconds. Each is a process of its own, on a lake of its own.
"""

import argparse
import json
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

from hops import put_rows
from processes import Run, timed_process
from routing import fresh_lake

from clwl_spark import tables as schemas
from clwl_spark.delta.lake import Lake
from clwl_spark.spark.local import local_session

START = datetime(2026, 1, 1, tzinfo=UTC)
LATER = "2026-01-02T00:00:00Z"
CHANNEL = "BACK.SERVER0"


def main() -> int:
    """Measure, and print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000, help="that wait or are new")
    parser.add_argument("--work", type=Path, default=Path("build/bench-waiting"))
    options = parser.parse_args()
    shutil.rmtree(options.work, ignore_errors=True)
    make_lake(options.work / "new", options.messages)
    make_lake(options.work / "waiting", 2 * options.messages)
    routed = _clwl(fresh_lake(options.work / "new", options.work / "routed"), "route")
    lake = options.work / "waiting"
    _clwl(lake, "route")
    about = ("--qmgr", "APP", "--channel", CHANNEL)
    switched = _clwl(lake, "xmitq", *about, "--start-at", LATER)
    stop = (*about, "--status", "STOPPED", "--at", LATER)
    reallocated = _clwl(lake, "reallocate", *stop)
    shutil.rmtree(options.work)
    document = {
        "messages": options.messages,
        "route_seconds": round(routed.seconds, 1),
        "reallocate_seconds": round(reallocated.seconds, 1),
        "ratio": round(reallocated.seconds / routed.seconds, 2),
        "events": reallocated.output["events"],
        "switch_seconds": round(switched.seconds, 1),
        "switched": switched.output["switched"],
    }
    sys.stdout.write(json.dumps(document, indent=2) + "\n")
    return 0


def _clwl(lake: Path, command: str, *words: str) -> Run:
    return timed_process(["-m", "clwl_spark.cli", command, "--lake", str(lake), *words, "--json"])


def make_lake(folder: Path, messages: int) -> None:
    """An application, two servers with its queue, and a transmission queue for one of them."""
    spark = local_session(app_name="make lake")
    lake = Lake(spark, str(folder.absolute()))
    servers = [f"SERVER{number}" for number in range(2)]
    head = {"snapshot_id": "S1", "observer": "*"}
    rows: dict[str, list[dict[str, object]]] = {
        "snapshots": [{"snapshot_id": "S1", "valid_from": START, "status": "VALID"}],
        "cluster_channels": [
            head | {"qmgr": qmgr, "channel": f"BACK.{qmgr}", "cluster": "BACK"}
            for qmgr in ("APP", *servers)
        ],
        "queues": [
            *(
                head | {"qmgr": qmgr, "queue": "ORDERS", "cluster": "BACK", "defbind": "NOTFIXED"}
                for qmgr in servers
            ),
            head
            | {"qmgr": "APP", "queue": "XMIT.SERVER0", "cluster": ""}
            | {"usage": "XMITQ", "clchname": CHANNEL},
        ],
        "channel_status": [
            {"snapshot_id": "S1", "qmgr": "APP", "channel": CHANNEL, "chltype": "CLUSSDR"}
            | {"remote_qmgr": "SERVER0", "status": "INACTIVE"}
            | {"xmitq": "SYSTEM.CLUSTER.TRANSMIT.QUEUE"},
        ],
    }
    lake.create(schemas.TABLES[name] for name in (*rows, "messages"))
    for name, found in rows.items():
        table = schemas.TABLES[name]
        cells = [tuple(row.get(column) for column in table.names) for row in found]
        lake.append(name, spark.createDataFrame(cells, table.schema))
    lake.append("messages", put_rows(spark, messages, "APP", "ORDERS"))
    spark.stop()


if __name__ == "__main__":
    sys.exit(main())
