"""Figures of a lake for Prometheus and OpenTelemetry are those of its tables."""

import json
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from small_worlds import message, qmgr, queue, rcvr, tables
from waiting_worlds import routed_lake
from worlds import put_rows

from clwl_spark.cli import main
from clwl_spark.cli.metrics import address_of
from clwl_spark.errors import UsageError
from clwl_spark.present.metrics.reading import read_figures

CONF = Path(__file__).parents[2] / "conf" / "monitoring"
WORLD = tables(
    qmgr("GATE"), qmgr("QM1"), qmgr("QM2"), rcvr("GATE"), rcvr("QM1"), rcvr("QM2"),
    queue("QM1", "Q", "K"), queue("QM2", "Q", "K"),
)  # fmt: skip
PUTS = [message("GATE", "Q", n) for n in range(1, 21)]
PUTS += [message("GATE", "NOWHERE", n) for n in range(21, 24)]
PUTS += [message("GATE", None, 24)]


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    found = routed_lake(spark, tmp_path_factory.mktemp("metrics"), WORLD, PUTS)
    put_rows(found, "messages", [message("GATE", "Q", n) for n in range(25, 30)])
    return found


def values(text):
    """{(name, labels)} of a text that Prometheus' own parser reads."""
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_prometheus_reads_what_the_tables_say(lake, capsys):
    capsys.readouterr()
    assert main(["metrics", "--lake", lake.root]) == 0
    found = values(capsys.readouterr().out)
    engine = next(dict(x[1:])["engine"] for x in found if x[0] == "clwl_runs_total")
    assert found["clwl_runs_total", ("engine", engine)] == 1
    assert found["clwl_messages_taken_total", ("engine", engine)] == 24
    assert found["clwl_outcomes_total", ("reason", "0")] == 20
    assert found["clwl_outcomes_total", ("reason", "2085")] == 3
    assert sum(n for x, n in found.items() if x[0] == "clwl_rejected_messages") == 1
    assert found["clwl_backlog_messages",] == 5
    assert found["clwl_run_unfinished", ("engine", engine)] == 0
    assert found["clwl_snapshots", ("status", "VALID")] == 1


def test_gates_of_the_newest_validation_count(lake, capsys):
    assert main(["validate", "--lake", lake.root, "--set", "gates=[]"][:3]) in (0, 1)
    capsys.readouterr()
    results = lake.read("gate_results").collect()
    failing = {x.gate: x.failing for x in results if x.verdict != "PASSED"}
    found = {x.name: x for x in read_figures(lake).figures}
    assert {x.labels["gate"]: x.value for x in found["clwl_gate_failing"].samples} == failing
    assert sum(x.value for x in found["clwl_gates"].samples) == len(results)


def test_opentelemetry_has_the_same_figures(lake, capsys):
    capsys.readouterr()
    assert main(["metrics", "--lake", lake.root, "--format", "otlp"]) == 0
    (resource,) = json.loads(capsys.readouterr().out)["resourceMetrics"]
    (scope,) = resource["scopeMetrics"]
    metrics = {x["name"]: x for x in scope["metrics"]}
    taken = metrics["clwl_messages_taken"]["sum"]
    assert taken["isMonotonic"] is True
    (point,) = taken["dataPoints"]
    assert point["asDouble"] == 24
    assert int(point["startTimeUnixNano"]) < int(point["timeUnixNano"])
    (backlog,) = metrics["clwl_backlog_messages"]["gauge"]["dataPoints"]
    assert backlog["asDouble"] == 5


def test_a_file_is_written_whole(lake, tmp_path, capsys):
    file = tmp_path / "clwl.prom"
    file.write_text("old")
    assert main(["metrics", "--lake", lake.root, "--out", str(file), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {x["name"] for x in told["figures"]} >= {"clwl_runs", "clwl_backlog_messages"}
    assert ("clwl_backlog_messages",) in values(file.read_text(encoding="utf-8"))
    assert [x.name for x in tmp_path.iterdir()] == ["clwl.prom"]


def test_scrapes_are_answered_from_this_machine_until_it_is_told_to_end(lake):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "clwl_spark", "metrics", "--lake", lake.root, "--serve"]
    with subprocess.Popen([*words, str(port)], stderr=subprocess.PIPE, text=True) as server:
        try:
            assert "127.0.0.1" in _line(server, "serving")
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
                assert ("clwl_backlog_messages",) in values(answer.read().decode())
            Path(lake.root).rename(f"{lake.root}.away")
            try:
                with pytest.raises(urllib.error.HTTPError, match="503") as refused:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics")
            finally:
                Path(f"{lake.root}.away").rename(lake.root)
            assert "no table 'runs' in" in refused.value.read().decode()
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
                assert answer.status == 200
        finally:
            server.terminate()
            rest = server.stderr.read()
        assert server.wait(30) == 143
        assert "no table 'runs' in" in rest
        assert "Traceback" not in rest


def _line(server, word):
    """The first line of standard error that has the word."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        line = server.stderr.readline()
        if word in line:
            return line
    raise AssertionError(word)


def test_addresses(lake, capsys):
    assert address_of("9464") == ("127.0.0.1", 9464)
    assert address_of("0.0.0.0:80") == ("0.0.0.0", 80)  # noqa: S104
    assert address_of("[::1]:80") == ("::1", 80)
    for text in ("", "x", "h:", "h:0", "70000"):
        with pytest.raises(UsageError, match="give"):
            address_of(text)
    assert main(["metrics", "--lake", lake.root, "--serve", "1", "--format", "otlp"]) == 2
    assert "leave --out and --format out" in capsys.readouterr().err


def test_alerts_and_the_dashboard_name_figures_that_there_are(lake):
    rules = yaml.safe_load((CONF / "alerts.yml").read_text(encoding="utf-8"))
    asked = [x["expr"] for group in rules["groups"] for x in group["rules"]]
    board = json.loads((CONF / "grafana.json").read_text(encoding="utf-8"))
    asked += [x["expr"] for panel in board["panels"] for x in panel["targets"]]
    page = (CONF.parents[1] / "docs" / "how-to" / "monitoring.md").read_text(encoding="utf-8")
    there = {f"{x.name}_total" if x.grows else x.name for x in read_figures(lake).figures}
    named = {name for text in asked for name in re.findall(r"clwl_\w+", text)}
    told = set(re.findall(r"`(clwl_\w+)`", page))
    assert named - {"clwl_gate_failing"} <= there
    assert told >= there | named
