"""A switch in words: its steps with their moments, interruptions, and arrivals that outrun it.

Source: IBM's page on transmission queues (steps 1 and 2, what the channel status shows, the message
AMQ7341).
"""

from clwl_spark.studies.switch.simulate import SwitchSummary
from clwl_spark.tables import waiting as w
from clwl_spark.tables.moments import SECOND, moment_at, moment_text


def steps_told(summary: SwitchSummary) -> list[str]:
    """One sentence or two per step and interruption, in order of time."""
    end = summary.figures["step_2_at"]
    pairs = summary.request.interruptions
    in_step_1 = [_interruption(x, y) for x, y in pairs if end is None or x < end]
    in_step_2 = [
        f"{_at(x)} Interrupted in step 2: nothing is left to move."
        for x, _ in pairs
        if end is not None and x >= end
    ]
    return [
        *_balancing(summary),
        _step_1(summary),
        *in_step_1,
        *_undone(summary),
        *_outrun(summary),
        _step_2(summary),
        *in_step_2,
    ]


def amq7341(channel: str, queue: str) -> str:
    """The line of the queue manager's error log at step 2."""
    return f"AMQ7341: The transmission queue for channel {channel} is {queue}."


def _balancing(summary: SwitchSummary) -> list[str]:
    """What workload balancing took while the channel was stopped, and after."""
    asked = summary.request
    if asked.stopped_at is None:
        return []
    words = (
        f"{_at(asked.stopped_at)} The channel stops ({asked.stopped_status}): workload balancing "
        f"goes through its messages, {asked.rebalanced_per_second:,} a second, and sends "
        f"{summary.figures['rebalanced']:,} by other channels before the switch has them."
    )
    return [words]


def _step_1(summary: SwitchSummary) -> str:
    of = summary.request.association
    found = summary.figures
    later = found["arrived_in_step_1"]
    return (
        f"{_at(summary.request.pace.start)} Step 1: the channel starts. The switch moves its "
        f"messages from {of.current} to {of.next} in order, {summary.request.pace.per_second:,} a "
        f"second; new ones still go to {of.current} ({later:,} do), which is what the channel's "
        "status shows."
    )


def _interruption(stop: int, start: int | None) -> str:
    """The channel stops during step 1."""
    goes_on = "It stays stopped." if start is None else f"Step 1 goes on at {_at(start)}."
    return f"{_at(stop)} Interrupted: the transaction in hand is undone. {goes_on}"


def _undone(summary: SwitchSummary) -> list[str]:
    """What interruptions cost."""
    undone = summary.figures["rolled_back"]
    if not undone:
        return []
    return [f"Interruptions undid {undone:,} moves, of messages that so stayed on the old queue."]


def _outrun(summary: SwitchSummary) -> list[str]:
    """Arrivals that come faster than the switch moves, and what that means for its end."""
    if not summary.outrun:
        return []
    found, pace = summary.figures, summary.request.pace
    old = summary.request.association.current
    seconds = max(found["last_arrival_in_step_1"] - pace.start, 1) / SECOND
    rate = found["arrived_in_step_1"] / seconds
    words = (
        f"Arrivals outrun the move: {old} grows from {found['depth_at_start']:,} to "
        f"{found['deepest']:,} messages by {_at(found['deepest_at'])}"
    )
    if rate < pace.per_second:
        return [f"{words}; on average {rate:,.1f} a second arrive, so it ends all the same."]
    end = (
        f"on average {rate:,.1f} a second arrive. While they do, step 1 does not end; it ends here "
        "because the table has no later arrivals, or fewer."
    )
    return [f"{words}; {end}"]


def _step_2(summary: SwitchSummary) -> str:
    of = summary.request.association
    end = summary.figures["step_2_at"]
    if end is None:
        return (
            f"Step 2 is not reached: {summary.figures['left_on_old']:,} messages are still on "
            f"{of.current}, and the switch goes on when the channel starts."
        )
    new = summary.figures[w.Placed.PUT_ON_NEW.value.lower()]
    left = "none of those that are known is left" if summary.is_short else "none is left"
    return (
        f"{_at(end)} Step 2: {left} on {of.current}; new messages go straight to {of.next} "
        f"({new:,} do). {amq7341(of.channel, of.next)}"
    )


def _at(moment: int) -> str:
    return moment_text(moment_at(moment))
