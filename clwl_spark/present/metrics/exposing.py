"""Figures of a lake as Prometheus reads them, and as OpenTelemetry's protocol has them.

Source: Prometheus, "Exposition formats"; OpenTelemetry, "OTLP/JSON", ExportMetricsServiceRequest.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from importlib.metadata import version
from typing import Any, Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from clwl_spark.present.metrics.reading import Figure, Figures, Labels, Sample
from clwl_spark.tables.moments import micros

_CUMULATIVE: Final = 2
"""AGGREGATION_TEMPORALITY_CUMULATIVE."""
_UNITS: Final = {"seconds": "s", "bytes": "By"}
Document = dict[str, Any]


class LakeCollector(Collector):
    """Hands Prometheus' client a lake's figures, read anew whenever they are asked for."""

    def __init__(self, read: Callable[[], Figures]) -> None:
        """Take what reads them."""
        self._read = read

    def describe(self) -> list[Metric]:
        """Nothing is known before it is read."""
        return []

    def collect(self) -> Iterator[Metric]:
        """The figures, as they are now."""
        yield from map(_family, self._read().figures)


def registry_of(read: Callable[[], Figures]) -> CollectorRegistry:
    """A registry that has a lake's figures, and none of this process."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(LakeCollector(read))
    return registry


def prometheus_text(found: Figures) -> str:
    """Figures in Prometheus' text format."""
    return generate_latest(registry_of(lambda: found)).decode("utf-8")


def otlp(found: Figures, lake: str) -> Document:
    """Figures as an ExportMetricsServiceRequest in JSON.

    Args:
        found: the figures.
        lake: where they were read; the resource's attribute `clwl.lake`.
    """
    resource = {"service.name": "clwl", "clwl.lake": lake}
    scope = {"name": "clwl_spark", "version": version("clwl-spark")}
    metrics = [_metric(x, found) for x in found.figures]
    return {
        "resourceMetrics": [
            {
                "resource": {"attributes": _attributes(resource)},
                "scopeMetrics": [{"scope": scope, "metrics": metrics}],
            }
        ]
    }


def _family(figure: Figure) -> Metric:
    made = CounterMetricFamily if figure.grows else GaugeMetricFamily
    names = list(figure.samples[0].labels)
    family = made(figure.name, figure.words, labels=names)
    for sample in figure.samples:
        family.add_metric([sample.labels[x] for x in names], sample.value)
    return family


def _metric(figure: Figure, found: Figures) -> Document:
    """A figure as a Metric: a sum where it grows, else a gauge."""
    points = [_point(x, figure, found) for x in figure.samples]
    data: Document = {"gauge": {"dataPoints": points}}
    if figure.grows:
        total = {"aggregationTemporality": _CUMULATIVE, "isMonotonic": True}
        data = {"sum": {**total, "dataPoints": points}}
    unit = _UNITS.get(figure.unit, "1")
    return {"name": figure.name, "description": figure.words, "unit": unit, **data}


def _point(sample: Sample, figure: Figure, found: Figures) -> Document:
    point = {
        "timeUnixNano": _nanos(found.at),
        "asDouble": sample.value,
        "attributes": _attributes(sample.labels),
    }
    if figure.grows and found.since is not None:
        point["startTimeUnixNano"] = _nanos(found.since)
    return point


def _attributes(labels: Labels) -> list[Document]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in labels.items()]


def _nanos(moment: datetime) -> str:
    """Nanoseconds since 1970, as the protocol's JSON writes numbers of 64 bits."""
    return str(micros(moment) * 1_000)
