"""OTLP/JSON of the OpenTelemetry Collector: counters of messages among the metrics of IBM MQ.

Source: OpenTelemetry protocol, `metrics.proto`; ibm-messaging/mq-metric-samples, `mq_otel`.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from clwl_spark.mq.traffic.counters import Counter
from clwl_spark.mq.traffic.metrics import counter_of, reading_of, whole
from clwl_spark.mq.traffic.records import Document, Record, RecordRefusedError
from clwl_spark.mq.traffic.spans import attributes, dicts

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DELTA: Final = frozenset({1, "1", "AGGREGATION_TEMPORALITY_DELTA"})


def is_of_metrics(document: Document) -> bool:
    """Whether a document is a batch of metrics."""
    return isinstance(document.get("resourceMetrics"), list)


def metric_records(document: Document) -> Iterator[Record | RecordRefusedError]:
    """The rows of a document's counters of messages; errors where one is unusable."""
    for resource in dicts(document["resourceMetrics"]):
        shared = attributes(resource.get("resource", {}))
        for scope in dicts(resource.get("scopeMetrics", [])):
            for metric in dicts(scope.get("metrics", [])):
                yield from _points(metric, shared)


def _points(metric: Document, shared: dict[str, Any]) -> Iterator[Record | RecordRefusedError]:
    name = str(metric.get("name", "")).replace(".", "_")
    for form in ("sum", "gauge"):
        data = metric.get(form)
        if not isinstance(data, dict):
            continue
        for point in dicts(data.get("dataPoints", [])):
            told = {key: str(x) for key, x in {**shared, **attributes(point)}.items()}
            try:
                counter = counter_of(name, told)
                if counter is not None:
                    yield _point(counter, point, form, data.get("aggregationTemporality"))
            except RecordRefusedError as error:
                yield error


def _point(counter: Counter, point: Document, form: str, temporality: object) -> Record:
    value = whole(point["asInt"] if "asInt" in point else point.get("asDouble"))
    at = _moment(point, "timeUnixNano")
    if form == "gauge" or not isinstance(temporality, int | str) or temporality not in _DELTA:
        return reading_of(counter, at, value, is_counter=form == "sum")
    return Record(
        "observed_counts",
        {
            "qmgr": counter.qmgr,
            "object_type": counter.object_type,
            "object_name": counter.object_name,
            "remote_qmgr": counter.remote_qmgr,
            "from_time": _moment(point, "startTimeUnixNano"),
            "to_time": at,
            "messages": value,
        },
    )


def _moment(point: Document, name: str) -> datetime:
    try:
        nanos = int(str(point.get(name)))
        return _EPOCH + timedelta(microseconds=nanos // 1_000)
    except (ValueError, OverflowError) as error:
        raise RecordRefusedError(f"a data point without {name}") from error
