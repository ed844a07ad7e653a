"""Stories for tests, in few words."""

from hypothesis import strategies as st

from clwl_spark.studies.repository.events import make_story

NAMES = ("QM1", "QM2", "QM3", "QM4")
QUEUES = ("A", "B")
DONE = ("define", "alter", "delete", "open", "open", "suspend", "resume", "refresh", "stop",
        "start", "start", "topic", "wait")  # fmt: skip


def event(at, do, qmgr, **more):
    return {"at": at, "do": do, "qmgr": qmgr, **more}


def started(partial=NAMES, full=("FR1", "FR2")):
    """Full repositories on day 0, the others on day 1."""
    joins = [event("0d", "join", name, full=True) for name in full]
    return joins + [event("1d", "join", name) for name in partial]


def story(*events):
    return make_story({"cluster": "DEMO", "events": list(events)}, "test")


@st.composite
def happenings(draw):
    """Random events after the start that can all happen, in order of time, and who is stopped.

    Full repositories stay; nothing is lost or reset, so that what must be known is certain.
    """
    told, defined, down, day = started(), set(), set(), 1
    for _ in range(draw(st.integers(1, 25))):
        day += draw(st.sampled_from((1, 1, 1, 20)))
        at, qmgr = f"{day}d", draw(st.sampled_from((*NAMES, "FR1", "FR2")))
        do, queue = draw(st.sampled_from(DONE)), draw(st.sampled_from(QUEUES))
        if (do == "start") != (qmgr in down):
            continue
        if do in {"start", "stop"}:
            down ^= {qmgr}
        told += _possible(event(at, do, qmgr), queue, defined)
    return told, down


def _possible(happens, queue, defined):
    """The event with its object, or none where it could not happen."""
    do, qmgr = happens["do"], happens["qmgr"]
    if do == "open":
        return [happens | {"queue": queue}]
    if do not in {"define", "topic", "alter", "delete"}:
        return [happens]
    kind = "topic" if do == "topic" else "queue"
    if ((qmgr, kind, queue) in defined) != (do in {"alter", "delete"}):
        return []
    if do != "alter":
        defined ^= {(qmgr, kind, queue)}
    more = {"attributes": {"clwlprty": len(happens["at"])}} if do == "alter" else {}
    return [happens | {"do": "define" if do == "topic" else do, kind: queue} | more]
