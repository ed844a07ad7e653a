import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from readings import read_text, read_texts

from clwl_spark.errors import IngestError
from clwl_spark.mq.read import decode
from clwl_spark.mq.read.merge import KEYS
from clwl_spark.tables import ADMINISTRATION

OWN = Path(__file__).parents[2] / "data" / "samples" / "topology"
FOREIGN = Path(
    os.environ.get("CLWL_MQ_SAMPLES") or Path(__file__).parents[3] / "shared" / "samples"
)
"""Files of others, which are no part of the project: the tests of them run where they are."""

needs_samples = pytest.mark.skipif(not FOREIGN.is_dir(), reason="the samples are not there")

GIVES = {
    "01": (2, 4, 0, 4, 0, 0, 0, 4, 0, 0, 0, 0, 1),
    "02": (1, 1, 0, 48, 6, 1, 0, 1, 0, 198, 2, 0, 0),
    "04": (2, 2, 0, 16, 0, 0, 0, 2, 0, 0, 0, 0, 0),
    "05": (2, 2, 0, 8, 0, 0, 0, 2, 0, 0, 2, 0, 3),
    "06": (3, 0, 0, 3, 1, 1, 0, 0, 0, 0, 0, 3, 3),
    "07": (0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 1),
    "09": (0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 11),
    "10": (2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 15),
    "12": (1, 0, 0, 52, 7, 1, 0, 0, 0, 221, 2, 0, 0),
    "14": (1, 0, 0, 7, 0, 0, 0, 0, 0, 22, 2, 3, 0),
    "15": (0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    "18": (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0),
    "19": (4, 0, 0, 45, 1, 0, 0, 0, 0, 0, 12, 4, 4),
    "22": (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3),
    "24": (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4),
    "26": (0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1),
    "27": (0, 0, 0, 2, 0, 0, 0, 0, 1, 6, 0, 2, 0),
    "28": (0, 0, 0, 1, 0, 0, 0, 0, 0, 4, 0, 0, 1),
    "30": (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3),
    "31": (2, 0, 0, 8, 1, 0, 0, 0, 0, 3, 1, 2, 0),
    "32": (0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 1, 1, 1),
    "36": (3, 2, 2, 6, 0, 0, 0, 0, 0, 0, 0, 0, 1),
    "38": (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    "40": (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1),
    "42": (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
}
"""Number of a folder -> rows of each table, in the order of KEYS, and rejects."""


def texts(folder):
    return [(path.name, decode(path.read_bytes())) for path in sorted(folder.iterdir())]


def test_the_projects_own_cluster_reads_without_a_reject():
    reading = read_texts(texts(OWN))
    assert reading.rejects == []
    assert set(reading.qmgrs) == {"HUB1", "HUB2", "DEPOT1", "DEPOT2", "SHOP1", "SHOP2", "SHOP3"}
    administration = {table.name for table in ADMINISTRATION}
    assert {x for x in KEYS if not reading.rows[x]} <= administration
    clusters = {row["cluster"] for row in reading.rows["cluster_channels"]}
    assert clusters == {"FREIGHT", "RETAIL"}


@pytest.mark.parametrize(
    "data",
    [
        "\ufeffDEF QL(\u00c4)".encode(),
        "DEF QL(\u00c4)".encode("utf-16"),
        "DEF QL(\u00c4)".encode("latin-1"),
        "DEF QL(\u00c4)".encode("utf-16-le"),
        "DEF QL(\u00c4)".encode("utf-16-be"),
        b"DEF QL(\xc3\x84)\r\n",
    ],
)
def test_every_encoding_gives_the_same_text(data):
    assert decode(data).strip("\n\ufeff") == "DEF QL(\u00c4)"


SCRIPT = "DEF QL(A) +\n  DESCR('[x] ^')\n"


@pytest.mark.parametrize("name", ["ebcdic", "IBM-037", "cp500", "ibm1140"])
@pytest.mark.parametrize("end", ["\n", "\x85", "\r\x85"])
def test_ebcdic_is_read_where_it_is_named(name, end):
    page = {"ebcdic": "cp037", "IBM-037": "cp037", "ibm1140": "cp1140"}.get(name, name)
    assert decode(SCRIPT.replace("\n", end).encode(page), name) == SCRIPT


def test_records_without_line_ends_become_lines():
    records = "".join(line.ljust(80) for line in SCRIPT.splitlines())
    assert decode(records.encode("cp037"), "ebcdic") == SCRIPT.rstrip()


def test_code_page_1047_has_brackets_where_open_systems_have_them():
    assert decode(b"\xad\xa7\xbd\x5f", "IBM-1047") == "[x]^"


@pytest.mark.parametrize("name", ["nonsense", "base64", "undefined"])
def test_an_unknown_encoding_is_an_error_that_names_some(name):
    with pytest.raises(IngestError, match="cp1047"):
        decode(b"DEF QL(A)", name)


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
    assert set(reading.rows) == set(KEYS)


@pytest.mark.parametrize("number", GIVES)
def test_a_folder_of_others_gives_these_rows_and_rejects(number):
    files = [path for path in sorted(FOREIGN.glob(f"{number}-*/*")) if path.name != "SOURCE.txt"]
    if not files:
        pytest.skip("the samples are not there")
    readings = [read_text(decode(path.read_bytes()), path.name, "OBS") for path in files]
    rows = tuple(sum(len(reading.rows[table]) for reading in readings) for table in KEYS)
    assert (*rows, sum(len(reading.rejects) for reading in readings)) == GIVES[number]


@needs_samples
def test_cluster_sample_01_gives_four_members_and_three_queues():
    folder = FOREIGN / "01-2fr2pr-input-mqsc"
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
    path = FOREIGN / "02-2fr2pr-dmpmqcfg" / "QM4.txt"
    reading = read_text(decode(path.read_bytes()), path.name)
    assert reading.rejects == []
    assert reading.qmgrs == ("QM4",)
    assert reading.rows["queue_managers"][0]["qmid"].startswith("QM4_")
    assert [row["channel"] for row in reading.rows["cluster_channels"]] == ["C_QM4"]
    assert len(reading.rows["queues"]) == 48
