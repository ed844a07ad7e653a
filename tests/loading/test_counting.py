"""Readings become counts, counts synthetic puts; bounds, mappings and redaction of a load."""

import json
import shutil
from datetime import UTC, datetime

import pytest
from deltalake import DeltaTable
from loading.tool_texts import AMQSMON, SMF_WQ, chstatus, otlp, scrape

from clwl_spark.cli import main
from clwl_spark.delta.lake import Lake


@pytest.fixture
def load(lake, tmp_path, capsys):
    """Load texts, each as a file of its own, with words; give the document and standard error."""
    number = iter(range(100))

    def loaded(texts, *words, code=0):
        files = [tmp_path / f"text{next(number)}" for _ in texts]
        for file, text in zip(files, texts, strict=True):
            file.write_text(text)
        capsys.readouterr()
        more = ["--time-zone", "UTC", "--lake", lake.root, "--json"]
        assert main(["load", *map(str, files), *map(str, words), *more]) == code
        shown = capsys.readouterr()
        return (json.loads(shown.out) if code == 0 else {}), shown.err

    return loaded


def clock(moment):
    return moment.astimezone(UTC).strftime("%H:%M")


def counts(lake):
    found = lake.read("observed_counts").orderBy("object_name", "from_time").collect()
    return [(x.object_name, clock(x.from_time), clock(x.to_time), x.messages) for x in found]


def at(hour, minute=0):
    return f"2026-09-14T{hour:02}:{minute:02}:00Z"


def test_a_display_counts_from_the_start_of_the_channel_and_two_from_one_to_the_other(lake, load):
    document, _ = load([chstatus(at(10), 100), chstatus(at(11), 130)])
    assert document["rows"] == {"observed_counts": 2, "counter_readings": 2, "messages": 0}
    assert counts(lake) == [("TO.QM2", "09:00", "10:00", 100), ("TO.QM2", "10:00", "11:00", 30)]


def test_a_channel_that_started_again_counts_from_then_on_and_it_is_told(lake, load):
    texts = [chstatus(at(10), 100), chstatus(at(11), 7, "10.30.00")]
    document, said = load(texts)
    assert document["counters_restarted"] == 1
    assert "began anew between two readings (1 in all)" in said
    assert counts(lake) == [("TO.QM2", "09:00", "10:00", 100), ("TO.QM2", "10:30", "11:00", 7)]


def test_one_scrape_gives_no_count_and_says_so_and_the_next_load_goes_on_from_it(lake, load):
    document, said = load([scrape(at(8), 7, 100, "counter")])
    assert (document["rows"]["counter_readings"], document["counters_read_once"]) == (2, 2)
    assert "2 counters were read once" in said
    document, said = load([scrape(at(8, 5), 10, 140, "counter")])
    assert document["counters_read_once"] == 0
    assert "read once" not in said
    expected = [("ORDERS", "08:00", "08:05", 3), ("TO.QM2", "08:00", "08:05", 40)]
    assert counts(lake) == expected
    document, _ = load([scrape(at(8, 5), 10, 140, "counter")])
    assert (document["known"], document["written"]) == (1, False)
    document, _ = load([scrape(at(8, 10), 4, 140, "counter")])
    assert document["counters_restarted"] == 1
    assert counts(lake) == [*expected, ("TO.QM2", "08:05", "08:10", 0)]


def test_scrapes_of_one_file_are_neighbours_and_gauges_count_since_the_one_before(lake, load):
    load([scrape(at(8), 7) + scrape(at(8, 1), 5) + scrape(at(8, 2), 6)])
    assert [x for x in counts(lake) if x[0] == "ORDERS"] == [
        ("ORDERS", "08:00", "08:01", 5),
        ("ORDERS", "08:01", "08:02", 6),
    ]


def test_counters_of_the_collector_give_differences(lake, load):
    document, _ = load([otlp(100, 1) + "\n" + otlp(130, 2), otlp(20, 3)])
    assert document["counters_restarted"] == 1
    assert counts(lake) == [("TO.QM2", "08:01", "08:02", 30)]


def test_a_csv_of_smf_may_grow(lake, load):
    head, first, second, _ = SMF_WQ.split("\n")
    load([f"{head}\n{first}\n"])
    document, _ = load([f"{head}\n{first}\n{second}\n{first.replace('ORDERS', 'STOCK ')}\n"])
    assert (document["rows"]["observed_counts"], document["rejects"]) == (1, [])
    assert [(x[0], x[3]) for x in counts(lake)] == [("ORDERS", 101), ("STOCK", 101)]


def test_a_metric_that_nobody_asks_for_is_passed_over(load):
    text = "".join(x for x in scrape().splitlines(keepends=True) if "depth" in x)
    document, said = load([text])
    (passed,) = document["passed_over"]
    assert "metric, none of a cluster sender's messages" in passed["why"]
    assert "is passed over" in said


def test_puts_of_several_connections_in_the_same_time_are_added_up(lake, load):
    """And those of the other tables of MQ are not: the same record again is the same count."""
    begin = AMQSMON.index("MonitoringType: QueueAccounting")
    before, accounting = AMQSMON[:begin], AMQSMON[begin:]
    document, _ = load([before + before + accounting * 3], "--synthesize")
    found = sorted(x for x in counts(lake) if x[0] == "ORDERS")
    assert [x[3] for x in found] == [8, 6]
    assert document["synthetic"] == 8 + 5 + 6
    load([accounting * 3 + "\n"])
    assert sorted(x for x in counts(lake) if x[0] == "ORDERS") == found


def queue_record(number, group, puts):
    """Statistics (165) or accounting (168) of half an hour as amqsevt writes it."""
    times = {"startTime": "10.00.00", "endTime": "10.30.00"}
    dates = {"startDate": "2026-09-14", "endDate": "2026-09-14"}
    data = {"queueMgrName": "QM1", **dates, **times, group: [{"queueName": "Q", "puts": puts}]}
    return json.dumps({"eventType": {"value": number}, "eventData": data}) + "\n"


def accounting_of(puts):
    return queue_record(168, "queueAccountingData", puts)


def statistics_of(puts):
    return queue_record(165, "queueStatisticsData", puts)


def test_what_accounting_adds_to_a_file_that_grew_is_added_up_too(lake, load, tmp_path):
    file = tmp_path / "grows.json"
    for text in (accounting_of(5), accounting_of(5) + accounting_of(7)):
        file.write_text(text)
        load([], file)
    load([], file)
    assert [x[3] for x in counts(lake)] == [12]
    # Another file may have the same record again, so it is not added.
    load([accounting_of(7) + "\n"])
    assert [x[3] for x in counts(lake)] == [7]


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        (SMF_WQ.replace("0,0,102", "45,0,102"), "45,0,102"),
        (AMQSMON, "MsgCount: 7"),
        (scrape(at(8), 7, 100, "counter") + scrape(at(9), 8, 217, "counter"), "17\n"),
    ],
    ids=["SMF", "amqsmon", "metrics"],
)
def test_a_last_line_that_is_cut_is_taken_when_it_is_whole(lake, load, tmp_path, text, mark):
    """Nothing of it is lost, and no number of which digits are missing is taken."""
    load([text])
    whole = sorted(counts(lake))
    for table in ("observed_counts", "counter_readings", "loads"):
        shutil.rmtree(lake.path(table), ignore_errors=True)
    file = tmp_path / "grows"
    file.write_text(text[: text.rindex(mark) + 1])
    document, _ = load([], file)
    assert ["when it is whole" in x["reason"] for x in document["rejects"]] == [True]
    file.write_text(text)
    assert load([], file)[0]["rejects"] == []
    assert sorted(counts(lake)) == whole


def test_statistics_stand_before_accounting_of_the_same_time(lake, load):
    """Accounting has a part of the puts, and may be read before, after or with statistics."""
    document, _ = load([statistics_of(90), accounting_of(5)], "--synthesize")
    assert (document["rows"]["observed_counts"], document["synthetic"]) == (1, 90)
    load([accounting_of(6)])
    assert [x[3] for x in counts(lake)] == [90]
    load([accounting_of(8) + statistics_of(91) + accounting_of(9)])
    assert [x[3] for x in counts(lake)] == [91]


def messages(lake):
    found = lake.read("messages").orderBy("qmgr", "put_seq").collect()
    return [(x.put_seq, x.object_name, x.put_time, bytes(x.message_id), x.synthetic) for x in found]


def test_counts_become_puts_once_and_each_says_that_it_is_synthetic(lake, load):
    document, _ = load([AMQSMON], "--synthesize")
    assert (document["rows"]["messages"], document["synthetic"]) == (15, 15)
    made = messages(lake)
    assert [x[0] for x in made] == [*range(1, 16)]
    assert sorted(x[1] for x in made) == ["ORDERS"] * 10 + ["STOCK"] * 5
    assert {x[4] for x in made} == {True}
    assert len({x[3] for x in made}) == 15
    first, last = made[0][2].astimezone(UTC), made[-1][2].astimezone(UTC)
    assert datetime(2026, 9, 14, 10, tzinfo=UTC) <= first <= last
    assert last < datetime(2026, 9, 14, 10, 30, tzinfo=UTC)
    document, _ = load([], "--synthesize")
    assert (document["synthetic"], document["written"]) == (0, False)
    assert messages(lake) == made


def test_counts_of_an_earlier_load_become_puts_and_the_seed_draws_their_moments(
    lake, load, spark, tmp_path
):
    load([AMQSMON])
    load([], "--synthesize", "--seed", "7")
    seventh = messages(lake)
    assert len(seventh) == 15
    other = Lake(spark, str(tmp_path / "other"))
    words = ["--lake", other.root, "--time-zone", "UTC", "--json", "--synthesize", "--seed", "7"]
    assert main(["load", str(tmp_path / "text0"), *words]) == 0
    assert messages(other) == seventh


def test_counts_of_an_earlier_load_become_puts_in_parts(lake, load):
    load([AMQSMON])
    bounds = (["--until", at(10, 15)], [])
    found = [load([], "--synthesize", *words)[0]["synthetic"] for words in bounds]
    assert found == [8 + 5, 2]
    assert len(messages(lake)) == 15


def test_more_puts_than_memory_has_room_for_are_refused(lake, load, capsys):
    load([AMQSMON])
    counted = DeltaTable(lake.path("observed_counts"))
    counted.update({"messages": f"{10**12}"}, predicate="object_type = 'QUEUE'")
    assert main(["load", "--lake", lake.root, "--synthesize"]) == 2
    assert "make them in parts with --since and --until" in capsys.readouterr().err


def test_a_queue_of_the_queue_manager_itself_and_a_channel_give_no_puts(load):
    text = AMQSMON.replace("ORDERS", "SYSTEM.CLUSTER.TRANSMIT.QUEUE")
    document, _ = load([text], "--synthesize")
    assert document["synthetic"] == 5


PUTS = """qmgr,When,Ziel
QM1,2026-09-14T08:00:00Z,ORDERS
QM1,2026-09-14T09:00:00Z,ORDERS
QM1,2026-09-14T10:00:00Z,STOCK
"""
MAPS = ("--map", "object_name=Ziel")


def test_rows_outside_of_the_bounds_are_left_for_another_load(lake, load):
    document, said = load([PUTS], *MAPS, "--since", at(9), "--until", at(10))
    assert (document["rows"]["messages"], document["outside"]) == (1, 2)
    assert "2 rows are not between the moments given" in said
    document, _ = load([PUTS], *MAPS, "--since", at(9), "--until", at(10))
    assert (document["known"], document["written"]) == (1, False)
    document, _ = load([PUTS], *MAPS, "--since", at(10))
    assert document["rows"]["messages"] == 1
    assert [
        (x.put_seq, clock(x.put_time)) for x in lake.read("messages").orderBy("put_seq").collect()
    ] == [
        (1, "09:00"),
        (2, "10:00"),
    ]
    document, _ = load([AMQSMON], "--until", at(10, 20))
    assert (document["rows"]["observed_counts"], document["outside"]) == (3, 1)


def test_rows_that_a_load_with_other_bounds_had_do_not_come_again(lake, load):
    """Whether the bounds overlap, or are left out."""
    event = {"eventType": {"value": 44}, "eventReason": {"value": 2085}}
    made = [int(datetime.fromisoformat(at(hour)).timestamp()) for hour in (8, 9)]
    failed = "".join(
        json.dumps(event | {"eventCreation": {"epoch": x}, "eventData": {"queueMgrName": "QM1",
                   "queueName": "NONE"}}) + "\n" for x in made
    )  # fmt: skip
    files = [PUTS, failed]
    load(files, *MAPS, "--until", at(8, 30))
    document, said = load(files, *MAPS, "--until", at(9, 30))
    assert document["rows"] == {"observed_routes": 1, "messages": 1}
    assert (document["outside"], document["repeated"]) == (1, 2)
    assert "2 puts came again" in said
    for more, new in ((["--since", at(8, 30)], 1), ([], 0), ([], 0)):
        assert load(files, *MAPS, *more)[0]["rows"]["messages"] == new
    # Neither file is read any more.
    assert load(files, *MAPS)[0]["known"] == 2
    assert (lake.read("messages").count(), lake.read("observed_routes").count()) == (3, 2)


def test_a_file_that_grew_gives_its_new_rows_between_the_same_bounds(lake, load):
    load([PUTS], *MAPS, "--since", at(9))
    document, _ = load([PUTS + "QM1,2026-09-14T11:00:00Z,NEW\n"], *MAPS, "--since", at(9))
    assert document["rows"]["messages"] == 1
    assert lake.read("messages").count() == 3


def test_bounds_that_leave_nothing_out_load_the_whole_file(load):
    document, _ = load([PUTS], *MAPS, "--since", at(8))
    assert document["outside"] == 0
    document, _ = load([PUTS], *MAPS)
    assert document["known"] == 1


def test_a_mapping_is_kept_in_a_file_and_read_back(load, tmp_path):
    kept = tmp_path / "kept.map"
    _, said = load([PUTS], *MAPS, "--save-map", kept, "--dry-run")
    assert f"{kept} written" in said
    assert kept.read_text() == "qmgr=qmgr\nput_time=When\nobject_name=Ziel\n"
    document, _ = load([PUTS], "--map", f"@{kept}")
    assert document["rows"] == {"messages": 3}
    others = ["qmgr,time,queue\nQM1,2026-09-14T08:00:00Z,A\n", "qm,time,q name\nQM1,now,A\n"]
    _, said = load(others, "--save-map", kept)
    assert f"--save-map {kept}: its files have different mappings" in said
    _, said = load([PUTS], "--map", "@/nowhere/at/all", code=2)
    assert "it cannot be read" in said


def test_redacted_rejects_say_where_and_why_and_no_words_of_the_file(lake, load):
    bad = PUTS + "QM1,alice at 10.0.0.7(1414),ORDERS\n"
    document, said = load([bad], *MAPS, "--redact")
    (reject,) = document["rejects"]
    assert (reject["line"], reject["text"]) == (5, "")
    assert reject["reason"].startswith("put_time '...' is no moment")
    (row,) = lake.read("load_rejects").collect()
    assert "alice" not in str(row) + said
    assert "10.0.0.7" not in str(row) + said
