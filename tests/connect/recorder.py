"""A program: types commands over Spark Connect, and writes down what the server is asked for.

`recorder.py FILE < COMMANDS` takes and prints what `in_turn.py` does. FILE gets a line for
each kind of call: of this process, and of the one in which the server runs a stream's function.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from connect.in_turn import answer
from pyspark import cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql.connect.streaming.readwriter import DataStreamWriter

ONE_OF = {
    "AnalyzePlanRequest": "analyze",
    "Catalog": "catalog",
    "Command": "command",
    "CommonInlineUserDefinedFunction": "function of",
    "Relation": "relation",
    "StreamingQueryCommand": "query",
}
"""Messages of the protocol that are one of several things, and what a line calls them."""
_WORD = re.compile(r"\w+")
_CALL = re.compile(r"(\w+)\(")


def kinds_of(message: Any) -> Iterator[str]:
    """What a message, and all within it, asks for; a word and what it is about."""
    name = message.DESCRIPTOR.name
    if name in ONE_OF:
        group = message.DESCRIPTOR.oneofs[0].name
        yield f"{ONE_OF[name]} {message.WhichOneof(group)}"
    elif name in _OTHERS:
        yield from _OTHERS[name](message)
    for field, value in message.ListFields():
        if field.message_type is not None:
            yield from _below(value)


def _below(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping) or hasattr(value, "items"):
        held: Iterable[Any] = value.values()
    elif hasattr(value, "DESCRIPTOR"):
        held = [value]
    else:
        held = value
    for x in held:
        if hasattr(x, "DESCRIPTOR"):
            yield from kinds_of(x)


def _operation(message: Any) -> Iterator[str]:
    kind = message.WhichOneof("op_type")
    asked = getattr(message, kind)
    names = [x.key for x in getattr(asked, "pairs", ())] or list(getattr(asked, "keys", ["all"]))
    yield from (f"{kind.partition('_')[0]} {x}" for x in names)


def _statement(message: Any) -> Iterator[str]:
    yield "sql " + " ".join(_WORD.findall(message.query.upper())[:2])
    yield from _called(message.query)


def _called(text: str) -> Iterator[str]:
    yield from (f"sql function {x.lower()}" for x in _CALL.findall(text))


def _artifacts(message: Any) -> Iterator[str]:
    names = [x.name for x in message.batch.artifacts] or [message.begin_chunk.name]
    yield from (f"artifact {x.partition('/')[0]}" for x in names if x)


_OTHERS: Mapping[str, Callable[[Any], Iterator[str]]] = {
    "AddArtifactsRequest": _artifacts,
    "CreateDataFrameViewCommand": lambda x: iter([f"view {'global' if x.is_global else 'own'}"]),
    "ExpressionString": lambda x: _called(x.expression),
    "Operation": _operation,
    "SQL": _statement,
    "UnresolvedFunction": lambda x: iter([f"sql function {x.function_name}"]),
    "WriteStreamOperationStart": lambda x: iter([f"trigger {x.WhichOneof('trigger')}"]),
}


class Recording:
    """A stub of the protocol that writes down what it is asked for."""

    def __init__(self, stub: Any, file: str) -> None:
        self._stub = stub
        self._file = file
        self._known: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._stub, name)

        def asked(request: Any, **more: Any) -> Any:
            self._note(f"call {name}")
            if hasattr(request, "DESCRIPTOR"):
                self._note_all(request)
                return call(request, **more)
            return call(self._each(request), **more)

        return asked

    def _each(self, requests: Iterable[Any]) -> Iterator[Any]:
        for request in requests:
            self._note_all(request)
            yield request

    def _note_all(self, request: Any) -> None:
        for kind in kinds_of(request):
            self._note(kind)

    def _note(self, kind: str) -> None:
        if kind not in self._known:
            self._known.add(kind)
            with open(self._file, "a", encoding="utf-8") as file:  # noqa: PTH123 (pickled)
                file.write(f"{kind}\n")


def record(session: Any, file: str) -> None:
    """From now on, what a session's server is asked for is written down."""
    client = session.client
    if not isinstance(client._stub, Recording):
        client._stub = Recording(client._stub, file)
        client._artifact_manager._stub = Recording(client._artifact_manager._stub, file)


def recorded(function: Callable[[Any, int], None], file: str) -> Callable[[Any, int], None]:
    """The function of a stream, whose session is recorded where the server runs it."""

    def call(frame: Any, batch_id: int) -> None:
        record(frame.sparkSession, file)
        Recording(None, file)._note("process of a stream")
        function(frame, batch_id)

    return call


def main(file: str) -> None:
    """Run the commands of standard input."""
    # Functions of this module that is run are pickled by their names in the other one of it, which
    # the server's Python does not know.
    from connect import recorder  # noqa: PLC0415

    cloudpickle.register_pickle_by_value(recorder)
    start = DataStreamWriter.foreachBatch
    DataStreamWriter.foreachBatch = lambda self, x: start(self, recorder.recorded(x, file))
    session = SparkSession.builder.getOrCreate()
    recorder.record(session, file)
    answers = [answer(words) for words in json.load(sys.stdin)]
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
