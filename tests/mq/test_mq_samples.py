import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clwl_spark.errors import IngestError
from clwl_spark.mq import TABLES, decode, read_text, read_texts

OWN = Path(__file__).parents[2] / "data" / "samples" / "topology"
FOREIGN = os.environ.get("CLWL_MQ_SAMPLES")

needs_samples = pytest.mark.skipif(not FOREIGN, reason="CLWL_MQ_SAMPLES names no folder")


def texts(folder):
    return [(path.name, decode(path.read_bytes())) for path in sorted(folder.iterdir())]


def test_the_projects_own_cluster_reads_without_a_reject():
    reading = read_texts(texts(OWN))
    assert reading.rejects == []
    assert set(reading.qmgrs) == {"HUB1", "HUB2", "DEPOT1", "DEPOT2", "SHOP1", "SHOP2", "SHOP3"}
    assert all(reading.rows[table] for table in TABLES)
    clusters = {row["cluster"] for row in reading.rows["cluster_channels"]}
    assert clusters == {"FREIGHT", "RETAIL"}


@pytest.mark.parametrize(
    "data",
    [
        "\ufeffDEF QL(\u00c4)".encode(),
        "DEF QL(\u00c4)".encode("utf-16"),
        "DEF QL(\u00c4)".encode("latin-1"),
        b"DEF QL(\xc3\x84)\r\n",
    ],
)
def test_every_encoding_gives_the_same_text(data):
    assert decode(data).strip("\n\ufeff") == "DEF QL(\u00c4)"


LINES = st.sampled_from(
    [
        "DEFINE QLOCAL(A) +",
        "DEF QA(A) TARGET(",
        "* Queue manager name: QM1",
        "Starting MQSC for queue manager QM2.",
        "     1 : ALTER QMGR REPOS(K)",
        "       : REPOS(J)",
        "AMQ8441I: x",
        "   CLUSQMGR(A)    CHANNEL(B",
        "AMQ8409: x",
        "   QUEUE(A)",
        " CSQM201I +Q X DISPLAY QUEUE DETAILS",
        " QUEUE(",
        "END",
        "SUSPEND QMGR CLUSNL(N)",
        "runmqsc X << EOF",
        "",
    ]
)


@given(lines=st.lists(st.one_of(LINES, st.text(max_size=20)), max_size=12))
def test_no_text_brings_anything_but_rows_rejects_or_an_ingest_error(lines):
    text = "\n".join(lines)
    assert decode(text.encode("utf-8", "surrogatepass")) is not None
    try:
        reading = read_text(text, "any")
    except IngestError:
        reading = read_text(text, "any", "OBS")
    assert set(reading.rows) == set(TABLES)


@needs_samples
def test_the_samples_of_others_bring_no_traceback():
    for path in sorted(Path(FOREIGN).rglob("*")):
        if path.is_file():
            assert set(read_text(decode(path.read_bytes()), path.name, "OBS").rows) == set(TABLES)


@needs_samples
def test_cluster_sample_01_gives_four_members_and_three_queues():
    folder = Path(FOREIGN) / "01-2fr2pr-input-mqsc"
    readings = {
        name: read_text((folder / f"{name}.mqsc").read_text(), name, name)
        for name in ("QM4", "QM5", "QM6", "QM7")
    }
    channels = {name: r.rows["cluster_channels"][0] for name, r in readings.items()}
    assert {name: row["channel"] for name, row in channels.items()} == {
        n: f"C_{n}" for n in readings
    }
    assert [channels[name]["qmtype"] for name in readings] == ["REPOS", "REPOS", "NORMAL", "NORMAL"]
    hosts = [n for n, r in readings.items() if "CQ1" in {q["queue"] for q in r.rows["queues"]}]
    assert hosts == ["QM5", "QM6", "QM7"]


@needs_samples
def test_cluster_sample_02_gives_its_identity_and_one_clustered_channel():
    path = Path(FOREIGN) / "02-2fr2pr-dmpmqcfg" / "QM4.txt"
    reading = read_text(decode(path.read_bytes()), path.name)
    assert reading.rejects == []
    assert reading.qmgrs == ("QM4",)
    assert reading.rows["queue_managers"][0]["qmid"].startswith("QM4_")
    assert [row["channel"] for row in reading.rows["cluster_channels"]] == ["C_QM4"]
    assert len(reading.rows["queues"]) == 48
