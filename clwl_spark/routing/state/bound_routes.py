"""Whether bindings hold on to the route that the last message of their key has taken.

Source: SEMANTICS 6, P15, P16, P24.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clwl_spark.algorithm.replay import NONE_MADE
from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import Bind, ObjectType
from clwl_spark.routing.ledger.replayed import Made, Outcomes
from clwl_spark.routing.state.bucket_plans import BY_GROUP, BY_OPEN
from clwl_spark.routing.state.history import Key, Memory, Route
from clwl_spark.tables import MESSAGES
from clwl_spark.tables import columns as c

_MESSAGE: Final = (c.QMGR, c.PUT_SEQ, c.MESSAGE_ID)
_KEY: Final = "key"
_ROW: Final = "row"
_KIND: Final = "kind"
_NAMES_NONE: Final = "names_none"
Astray = tuple[str, str, str, str]
"""(qmgr, which key, the remembered route, the last message's), in words."""


def bindings_astray(
    lake: Lake, memories: Mapping[str, Memory], outcomes: Outcomes, made: Made
) -> tuple[int, list[Astray]]:
    """The bindings whose route is not that of the last outcome of their key.

    Args:
        lake: has the messages.
        memories: by queue manager.
        outcomes: all of them.
        made: what their answers say.

    Returns:
        How many were compared: those of which a message is in the lake; and those that differ.
    """
    bindings = [(x, *y) for x, memory in memories.items() for y in memory.bindings.items()]
    if not bindings:
        return 0, []
    asked = _messages(lake, [(qmgr, key) for qmgr, key, _ in bindings])
    last = _last_of_keys(asked, outcomes, made)
    answers = outcomes.answers.to_pylist()
    found = []
    for at, answer in last.items():
        qmgr, key, (route, _) = bindings[at]
        known, taken = _words(route), _end(answers[answer])
        if known != taken:
            found.append((qmgr, _named(key), str(known), str(taken)))
    return len(last), found


def _messages(lake: Lake, keys: list[tuple[str, Key]]) -> pa.Table:
    """The messages that may have one of the keys.

    Grain: one row per message: (qmgr, put_seq, message_id), `bind` in words, `key` its place, and
    `kind` BY_OPEN or BY_GROUP.
    """
    rows = lake.dataset(MESSAGES.name)
    columns = [*_MESSAGE, c.OBJECT_TYPE, c.OBJECT_NAME, c.OBJECT_QMGR, c.BIND]
    tables = []
    for by_group, name in ((False, c.OPEN_ID), (True, c.GROUP_ID)):
        own = [(at, x) for at, x in enumerate(keys) if x[1][0] is by_group]
        if rows is None or not own:
            continue
        ids = pa.array([x[1][1] for _, x in own], lake.arrow_schema(MESSAGES.name).field(name).type)
        found = rows.to_table([*columns, name], filter=pc.field(name).isin(ids))
        is_put = pc.not_equal(pc.fill_null(found[c.OBJECT_TYPE], ""), ObjectType.TOPIC.value)
        found = _filled(found.filter(is_put), c.OBJECT_QMGR, "")
        found = _filled(_told_apart(found, name), c.BIND, Bind.AS_Q_DEF.value)
        asked = pa.table(
            {
                c.QMGR: [x[0] for _, x in own],
                name: ids,
                c.OBJECT_NAME: [x[1][2] for _, x in own],
                c.OBJECT_QMGR: [x[1][3] for _, x in own],
                _KEY: pa.array([at for at, _ in own], pa.int64()),
            }
        )
        on = [c.QMGR, name, _NAMES_NONE, c.OBJECT_NAME, c.OBJECT_QMGR]
        joined = found.join(_told_apart(asked, name), on, join_type="inner")
        option = (Bind.ON_GROUP if by_group else Bind.ON_OPEN).value
        is_asked = pc.is_in(joined[c.BIND], pa.array([option, Bind.AS_Q_DEF.value]))
        joined = joined.filter(is_asked).select([*_MESSAGE, c.BIND, _KEY])
        kind = np.full(joined.num_rows, BY_GROUP if by_group else BY_OPEN)
        tables.append(joined.append_column(_KIND, pa.array(kind)))
    none = MESSAGES.arrow((*_MESSAGE, c.BIND)).empty_table()
    for name in (_KEY, _KIND):
        none = none.append_column(name, pa.array([], pa.int64()))
    return pa.concat_tables(tables or [none])


def _told_apart(table: pa.Table, name: str) -> pa.Table:
    """A table whose ids can be joined by, since none is null, and whether they were."""
    is_null = pc.is_null(table[name])
    empty = 0 if pa.types.is_integer(table[name].type) else b""
    return _filled(table, name, empty).append_column(_NAMES_NONE, is_null)


def _filled(table: pa.Table, name: str, value: Any) -> pa.Table:  # noqa: ANN401
    at = table.schema.get_field_index(name)
    return table.set_column(at, name, pc.fill_null(table[name], value))


def _last_of_keys(asked: pa.Table, outcomes: Outcomes, made: Made) -> dict[int, int]:
    """By key, the answer of the last outcome that followed it or chose for it."""
    qmgr = outcomes.answers[c.QMGR].take(pa.array(outcomes.answer))
    rows = pa.table(
        {
            c.QMGR: qmgr,
            c.PUT_SEQ: outcomes.order[c.PUT_SEQ],
            c.MESSAGE_ID: outcomes.order[c.MESSAGE_ID],
            _ROW: pa.array(np.arange(len(outcomes.answer))),
        }
    )
    joined = _filled(asked, c.MESSAGE_ID, b"").join(
        _filled(rows, c.MESSAGE_ID, b""), [*_MESSAGE], join_type="inner"
    )
    row, key = (joined[x].to_numpy() for x in (_ROW, _KEY))
    answer = outcomes.answer[row]
    bound = outcomes.answers[c.BOUND].to_numpy(zero_copy_only=False)[answer]
    is_asked = pc.not_equal(joined[c.BIND], Bind.AS_Q_DEF.value).to_numpy()
    is_default = made.bind_default[answer] == joined[_KIND].to_numpy()
    wanted = (is_asked | is_default) & (bound | (made.channel[answer] != NONE_MADE))
    order = np.lexsort((joined[c.PUT_SEQ].to_numpy(), outcomes.batch[row]))
    order = order[wanted[order]]
    return dict(zip(key[order].tolist(), answer[order].tolist(), strict=True))


def _words(route: Route) -> tuple[Any, ...]:
    """A route as outcomes have it (P24)."""
    dest_qmgr, dest_object, channel, cluster, is_local = route
    ends = (None, None) if is_local else (channel, cluster)
    return (dest_qmgr, dest_object, *ends)


def _end(answer: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(answer[x] for x in (c.DEST_QMGR, c.DEST_OBJECT, c.CHANNEL, c.CLUSTER))


def _named(key: Key) -> str:
    by_group, of, name, qmgr = key
    group = of.hex() if isinstance(of, bytes) else of
    which = (
        "the open without an open_id"
        if of is None
        else f"{'group' if by_group else 'open'} {group}"
    )
    at = f" at {qmgr}" if qmgr else ""
    return f"binding of {which} to {name}{at}"
