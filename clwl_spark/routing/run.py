"""One run of routing: plan what is asked for, route one micro-batch, write, count.

Exactly once. Before a run routes, its row in `runs` claims the batch, and says which messages it
routes with which snapshots from which memory. All writes of a batch carry the batch's number as
transaction or are merges: a batch that was killed anywhere is routed again from the memory before
it, with the same snapshots, to the same rows, and what was written is not written twice.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import structlog

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import LakeStateError
from clwl_spark.logs import OnProgress
from clwl_spark.planning.plans import Ladder
from clwl_spark.routing.engines.batch import (
    CheckpointLostError,
    EarlierBatchError,
    RouteOptions,
    route_batch,
)
from clwl_spark.routing.engines.choose import AUTO, EMBEDDED, engine_for, routes_here
from clwl_spark.routing.engines.embedded import EmbeddedEngine
from clwl_spark.routing.engines.spark import SparkEngine
from clwl_spark.routing.engines.workers import Workers, workers
from clwl_spark.routing.faults import faults_named
from clwl_spark.routing.ledger.losses import refuse_foreign_checkpoint, refuse_losses
from clwl_spark.routing.ledger.one_runner import one_runner
from clwl_spark.routing.ledger.run_record import Run, RunSummary
from clwl_spark.routing.ledger.runs import abandon, begin, claim, previous, write_again
from clwl_spark.routing.ledger.source_offsets import all_taken, is_checkpoint_lost
from clwl_spark.routing.ledger.takeover import take_over
from clwl_spark.routing.plans.facts_cache import FactsCache
from clwl_spark.routing.plans.provide import PlanProvider
from clwl_spark.routing.state.message_exit import load_message_exit
from clwl_spark.rules.exit import load_exit
from clwl_spark.rules.marking import Rule
from clwl_spark.snapshots.catalog import apart
from clwl_spark.spark.materialize import releasing
from clwl_spark.tables import (
    BALANCE_HISTORY,
    OUTCOMES,
    REJECTED_MESSAGES,
    ROUTE_CANDIDATES,
    ROUTE_PLANS,
    ROUTER_MEMORY,
    RUNS,
    SNAPSHOT_RESETS,
)

__all__ = ["WRITTEN", "RouteOptions", "RunSummary", "follow", "route"]

WRITTEN: Final = (
    OUTCOMES,
    REJECTED_MESSAGES,
    ROUTE_PLANS,
    ROUTE_CANDIDATES,
    BALANCE_HISTORY,
    ROUTER_MEMORY,
    SNAPSHOT_RESETS,
    RUNS,
)


@dataclass(frozen=True, slots=True)
class _Call:
    """What the runs of one call have in common."""

    lake: Lake
    options: RouteOptions
    exit_function: Rule | None
    tell: OnProgress
    facts_cache: FactsCache
    workers: Workers


def route(lake: Lake, options: RouteOptions, progress: OnProgress | None = None) -> RunSummary:
    """Route every message that is not routed yet, and stop.

    Args:
        lake: where the messages and the topology are; outcomes are written there.
        options: how to route.
        progress: is told (stage, done, of) as work goes on.

    Raises:
        MissingLakeError: there are no messages or no snapshots table.
        LakeStateError: the checkpoint is ahead of the lake, a table has lost a batch, a lake of
            other semantics, or one that another run routes at this moment.
    """
    with workers() as pool:
        return _route(lake, options, progress, FactsCache(), pool)


def _route(
    lake: Lake,
    options: RouteOptions,
    progress: OnProgress | None,
    facts_cache: FactsCache,
    pool: Workers,
) -> RunSummary:
    """As `route`, with what the run before this one in the same process has left."""
    started = time.monotonic()
    tell = progress or (lambda _stage, _done, _of: None)
    with releasing(), faults_named(lake):
        lake.expect("messages")
        lake.expect("snapshots")
        lake.create(WRITTEN)
        # The workers load it; a name that is wrong is told before there are messages for it.
        load_message_exit(options.message_exit)
        call = _Call(lake, options, load_exit(options.exit_function), tell, facts_cache, pool)
        total = _route_all(call)
    return replace(total, seconds=round(time.monotonic() - started, 3))


def _route_all(call: _Call) -> RunSummary:
    """Route a batch that was killed, if there is one, and what is new."""
    total: RunSummary | None = None
    while True:
        with one_runner(call.lake):
            refuse_losses(call.lake)
            run = begin(call.lake, call.options.wanted, call.options.duplicates)
            structlog.contextvars.bind_contextvars(run_id=run.run_id)
            with releasing():
                summary = _route_new(call, run)
        total = summary if total is None else _added(total, summary)
        if not run.resumed:
            return total


def _route_new(call: _Call, run: Run) -> RunSummary:
    """Route the run's micro-batch, if there is one; else nothing is written."""
    if not run.resumed and all_taken(call.lake, run):
        return RunSummary(run.run_id, engine=_engine_of_nothing(call))
    ladder = Ladder(run.semantics, call.exit_function, call.options.is_onward)
    if call.exit_function is not None:
        run = replace(run, pins=apart(run.pins))
    if routes_here(call.lake, run, call.options.engine):
        engine = EmbeddedEngine(call.workers, call.facts_cache)
        return engine.route(call.lake, run, call.options, ladder, call.tell)
    return _route_stream(call, run, ladder)


def _engine_of_nothing(call: _Call) -> str:
    """Whose run found nothing to route: tables are not looked at to tell how Spark would have."""
    if call.lake.is_embedded:
        return EMBEDDED
    return SparkEngine.name if call.options.engine == AUTO else call.options.engine


def _route_stream(call: _Call, run: Run, ladder: Ladder) -> RunSummary:
    """Route the run's micro-batch by Spark's stateful query."""
    if run.is_first_here and run.batch_id:
        take_over(call.lake, run)
        run = replace(run, memory_version=call.lake.version(ROUTER_MEMORY.name))
    operator = call.options.operator
    is_other = _is_by_another(call, run)
    if not run.checkpoint or is_other or is_checkpoint_lost(call.lake, run):
        run = _with_new_checkpoint(run, operator, is_lost=not is_other)
        if run.resumed:
            write_again(call.lake, run)
    refuse_foreign_checkpoint(call.lake, run)
    claim(call.lake, run)
    try:
        summary = _plan_and_route(call, run, ladder)
    except CheckpointLostError:
        run = _with_new_checkpoint(run, operator)
        write_again(call.lake, run)
        summary = _plan_and_route(call, run, ladder)
    if summary.batch_id is None:
        abandon(call.lake, run)
    return summary


def _is_by_another(call: _Call, run: Run) -> bool:
    """Whether another operator than is wanted keeps the state of the run's checkpoint.

    Raises:
        LakeStateError: it does, and nothing else knows which messages are routed.
    """
    if not run.checkpoint or run.operator == call.options.operator:
        return False
    if run.taken is None:
        raise LakeStateError(
            f"which messages of lake {call.lake.root} are routed is known to its checkpoint alone, "
            f'whose state is kept by {run.operator}: set stateful_operator = "{run.operator}"'
        )
    return True


def _with_new_checkpoint(run: Run, operator: str, *, is_lost: bool = True) -> Run:
    """The run with a checkpoint of its own; what Spark's state lacks comes from the lake."""
    if run.checkpoint and is_lost:
        logger = structlog.get_logger()
        logger.warning("checkpoint", lost=run.checkpoint, instead="table router_memory")
    return run.with_new_checkpoint(operator)


def _plan_and_route(call: _Call, run: Run, ladder: Ladder) -> RunSummary:
    """Route the run's micro-batch; before it, again, one that the checkpoint does not know."""
    lake, options = call.lake, call.options
    call.tell("planning", 0, 1)
    engine = engine_for(lake, options.engine, options.state_partitions)
    provider = PlanProvider(lake, run, ladder, engine, call.facts_cache)
    provider.plan_new_messages()
    call.tell("routing", 0, 1)
    try:
        return route_batch(lake, run, options, provider)
    except EarlierBatchError:
        before = previous(lake, run)
        if call.exit_function is not None:
            before = replace(before, pins=apart(before.pins))
        route_batch(lake, before, options, PlanProvider(lake, before, ladder, engine))
        return route_batch(lake, run, options, provider)


def _added(one: RunSummary, other: RunSummary) -> RunSummary:
    """The counts of two runs of one call, under the later one's name."""
    reasons = Counter(one.by_reason) + Counter(other.by_reason)
    return replace(
        other,
        messages=one.messages + other.messages,
        outcomes=one.outcomes + other.outcomes,
        rejected=one.rejected + other.rejected,
        out_of_order=one.out_of_order + other.out_of_order,
        own_opens=one.own_opens + other.own_opens,
        by_reason=dict(sorted(reasons.items())),
        worker_peak_mib=max(one.worker_peak_mib, other.worker_peak_mib),
        batch_id=one.batch_id if other.batch_id is None else other.batch_id,
    )


def follow(
    lake: Lake,
    options: RouteOptions,
    poll_seconds: float,
    stop: Callable[[], bool],
    progress: OnProgress | None = None,
) -> Iterator[RunSummary]:
    """Route what comes, run after run, until `stop` says so; a summary for each run that routed.

    Each run reads the snapshots anew, so one that arrives counts from its `valid_from` on.
    """
    lake.expect("messages")
    routed_version = None
    facts_cache = FactsCache()
    with workers() as pool:
        while not stop():
            version = lake.version("messages")
            if version != routed_version:
                summary = _route(lake, options, progress, facts_cache, pool)
                routed_version = version
                if summary.batch_id is not None:
                    yield summary
            waited = time.monotonic() + poll_seconds
            while not stop() and time.monotonic() < waited:
                time.sleep(min(0.2, poll_seconds))
