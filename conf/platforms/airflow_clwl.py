"""An Airflow DAG: what MQ printed and what was put, routed and judged each hour.

Airflow's worker needs the package (`clwl`), and the folders. `CLWL_LAKE`, `CLWL_LANDING` and
`CLWL_REPORTS` in its environment say where they are, `CLWL_RECORDS` where MQ's records of traffic
are, if there are any: predictions are held against them. Exit codes tell what is worth a retry:
1 (a gate said no) and 2 (bad input, or another run has the lake) are not, anything else is.
"""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta

from airflow.sdk import dag, task
from airflow.sdk.exceptions import AirflowException, AirflowFailException

LAKE = os.environ.get("CLWL_LAKE", "/data/lake")
LANDING = os.environ.get("CLWL_LANDING", "/data/landing")
RECORDS = os.environ.get("CLWL_RECORDS", "")
REPORTS = os.environ.get("CLWL_REPORTS", "/data/reports")
PYTHON = os.environ.get("CLWL_PYTHON", sys.executable)
NOT_WORTH_A_RETRY = (1, 2)


def clwl(*words: str) -> None:
    """Run a command on the lake, without a shell."""
    command = [PYTHON, "-m", "clwl_spark", *words, "--lake", LAKE, "--log", "json", "--quiet"]
    code = subprocess.run(command, check=False).returncode
    if code in NOT_WORTH_A_RETRY:
        raise AirflowFailException(f"clwl {words[0]} ended with {code}")
    if code:
        raise AirflowException(f"clwl {words[0]} ended with {code}")


@dag(
    dag_id="clwl",
    schedule="@hourly",
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,  # one writer at a time
    default_args={"retries": 2, "retry_delay": timedelta(minutes=1)},
)
def clwl_dag() -> None:
    """ingest, validate, route and report; with records, load and conform as well."""

    @task
    def ingest() -> None:
        clwl("ingest", LANDING, "--snapshot", f"at-{datetime.now(UTC):%Y%m%dT%H%M%S}")

    @task
    def validate() -> None:
        clwl("validate")

    @task
    def route() -> None:
        clwl("route")

    @task
    def load() -> None:
        clwl("load", RECORDS)

    @task
    def conform() -> None:
        clwl("conform")

    @task
    def report() -> None:
        clwl("report", "--out", REPORTS)

    routed = route()
    ingest() >> validate() >> routed
    routed >> report()
    if RECORDS:
        routed >> load() >> conform()


clwl_dag()
