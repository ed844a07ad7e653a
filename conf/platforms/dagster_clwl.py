"""A Dagster job: what MQ printed and what was put, routed and judged each hour.

`CLWL_LAKE`, `CLWL_LANDING` and `CLWL_REPORTS` in the environment say where they are, `CLWL_PYTHON`
which Python has the package. Exit codes 1 (a gate said no) and 2 (bad input, or another run has
the lake) fail the run for good; anything else is tried again.
"""

import os
import subprocess
import sys
from datetime import UTC, datetime

from dagster import (
    DagsterRunStatus,
    DefaultScheduleStatus,
    Definitions,
    Failure,
    In,
    Nothing,
    OpDefinition,
    RetryPolicy,
    RunRequest,
    RunsFilter,
    ScheduleEvaluationContext,
    SkipReason,
    in_process_executor,
    job,
    op,
    schedule,
)

LAKE = os.environ.get("CLWL_LAKE", "/data/lake")
LANDING = os.environ.get("CLWL_LANDING", "/data/landing")
REPORTS = os.environ.get("CLWL_REPORTS", "/data/reports")
PYTHON = os.environ.get("CLWL_PYTHON", sys.executable)
NOT_WORTH_A_RETRY = (1, 2)
UNDER_WAY = [DagsterRunStatus.QUEUED, DagsterRunStatus.STARTING, DagsterRunStatus.STARTED]


def clwl(*words: str) -> OpDefinition:
    """An op that runs a command on the lake, without a shell, after another one."""

    @op(name=words[0], ins={"after": In(Nothing)}, retry_policy=RetryPolicy(2, delay=60))
    def run() -> None:
        named = ["--snapshot", f"at-{datetime.now(UTC):%Y%m%dT%H%M%S}"]
        given = [*words, *(named if words[0] == "ingest" else []), "--lake", LAKE]
        command = [PYTHON, "-m", "clwl_spark", *given, "--log", "json", "--quiet"]
        if code := subprocess.run(command, check=False).returncode:
            raise Failure(
                f"clwl {words[0]} ended with {code}", allow_retries=code not in NOT_WORTH_A_RETRY
            )

    return run


@job(executor_def=in_process_executor)  # ops start processes of their own
def clwl_job() -> None:
    """Ingest, validate, route and report."""
    routed = clwl("route")(clwl("validate")(clwl("ingest", LANDING)()))
    clwl("report", "--out", REPORTS)(routed)


@schedule(job=clwl_job, cron_schedule="0 * * * *", default_status=DefaultScheduleStatus.STOPPED)
def hourly(context: ScheduleEvaluationContext) -> RunRequest | SkipReason:
    """A run an hour, unless one is under way: one writer at a time."""
    wanted = RunsFilter(job_name=clwl_job.name, statuses=UNDER_WAY)
    if context.instance.get_runs(wanted, limit=1):
        return SkipReason("another run has the lake")
    return RunRequest()


defs = Definitions(jobs=[clwl_job], schedules=[hourly])
