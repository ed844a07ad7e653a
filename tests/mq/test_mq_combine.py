import pickle
from itertools import permutations

import pytest
from mq.mqsc_texts import chstatus, clusqmgr, one, queue, session
from readings import apply_changes, combine, read_text, read_texts

from clwl_spark.errors import IngestError
from clwl_spark.mq.read import observer_of, read_states

OWN = "* Queue manager name: QM1\n"


def test_files_read_apart_and_sent_around_combine_like_files_read_together():
    texts = [
        ("a", OWN + "DEF QL(A) CLUSNL(N)\nALTER QMGR REPOS(K)\nDEFNE QL(B)"),
        ("b", OWN + "DEF NL(N) NAMES(K,J)\nDEF CHL(C) CHLTYPE(CLUSRCVR) CLUSTER(K)"),
        ("c", session("QM1", clusqmgr("CLUSQMGR(QM2)", "CHANNEL(C2)", "CLUSTER(K)"))),
    ]
    apart = [pickle.loads(pickle.dumps(read_states(text, name))) for name, text in texts]  # noqa: S301
    assert combine(apart) == read_texts(texts)
    assert combine(apart) == combine(apart)
    assert [file.qmgrs for file in apart] == [("QM1",)] * 3
    assert len(pickle.dumps(apart)) < 4000


def test_a_nameless_file_stops_nothing_before_it_is_combined():
    file = read_states("DEF QL(A)", "a.mqsc")
    assert "--observer" in file.error
    with pytest.raises(IngestError, match=r"a\.mqsc"):
        combine([file])


@pytest.mark.parametrize(
    ("pattern", "name"),
    [("{stem}", "QM1"), ("{folder}", "prod"), ("Q.{folder}.{stem}", "Q.prod.QM1"), ("X", "X")],
)
def test_an_observer_may_be_made_of_the_files_path(pattern, name):
    assert observer_of(pattern, "exports/prod/QM1.mqsc") == name
    assert read_text("DEF QL(A)", "exports/prod/QM1.mqsc", pattern).qmgrs == (name,)


def test_a_text_that_names_its_queue_manager_does_not_need_the_path():
    assert read_text(OWN + "DEF QL(A)", "x/other.mqsc", "{stem}").qmgrs == ("QM1",)


@pytest.mark.parametrize(
    ("around", "name"),
    [
        ('$ echo "dis clusqmgr(*)" | runmqsc QM7\n', "QM7"),
        ("$ runmqsc -e QM7 < in.mqsc > out\n", "QM7"),
        ("QM7> dis clusqmgr(*)\n", "QM7"),
        ("AMQ8705I: x\n   QMNAME(QM7)                 TYPE(QMGR)\n", "QM7"),
        ("AMQ8723I: x\n   QMNAME(QM7)                 TYPE(LOCAL)\n", "QM7"),
        ("5724-H72 (C) Copyright IBM Corp. 1994, 2026.\nMQSC für QM7 wird gestartet.\n", "QM7"),
    ],
)
def test_words_around_a_display_name_its_queue_manager(around, name):
    block = clusqmgr("CLUSQMGR(QM2)", "CHANNEL(C)", "CLUSTER(K)")
    reading = read_text(around + block, "log")
    assert reading.qmgrs == (name,)
    assert reading.rows["queue_managers"] == []


def test_an_observer_goes_before_words_around_a_text():
    block = clusqmgr("CLUSQMGR(QM2)", "CHANNEL(C)", "CLUSTER(K)")
    assert read_text("$ runmqsc QM7\n" + block, "log", "QM1").qmgrs == ("QM1",)


@pytest.fixture
def earlier():
    definitions = (
        "DEF QL(A) CLUSTER(K) CLWLPRTY(5) CLWLRANK(2)\nALTER QMGR REPOS(K)\n"
        "DEF CHL(C) CHLTYPE(CLUSRCVR) CLUSTER(K) CLWLPRTY(5)\nSUSPEND QMGR CLUSTER(K)\n"
    )
    return read_text(OWN + definitions, "before").rows


@pytest.mark.parametrize(
    ("shown", "told"),
    [
        (["CLWLPRTY(3)"], {"clwlprty": 3}),
        (["CLUSTER(K)", "XMITQ( )", "CLWLRANK(7)"], {"xmitq": "", "clwlrank": 7}),
    ],
)
def test_a_display_tells_what_it_shows(earlier, shown, told):
    text = session("QM1", queue("QUEUE(A)", "TYPE(QLOCAL)", *shown))
    (row,) = apply_changes(earlier, text, "a", "QM1").rows["queues"]
    (old,) = earlier["queues"]
    assert {x: row[x] for x in old if row[x] != old[x] and x != "source"} == told


def test_a_definition_tells_all(earlier):
    (row,) = apply_changes(earlier, OWN + "DEF QL(A) CLUSTER(K)", "a", "QM1").rows["queues"]
    assert (row["clwlprty"], row["clwlrank"]) == (None, None)


def test_a_channels_definition_tells_of_its_queue_manager_what_is_said_of_it(earlier):
    text = OWN + "DEF CHL(C) CHLTYPE(CLUSRCVR) CLUSTER(K)\n"
    (row,) = apply_changes(earlier, text, "a", "QM1").rows["cluster_channels"]
    assert (row["clwlprty"], row["qmtype"], row["suspended"]) == (None, "REPOS", True)
    text += "ALTER QMGR REPOS(' ')\nRESUME QMGR CLUSTER(K)"
    (row,) = apply_changes(earlier, text, "a", "QM1").rows["cluster_channels"]
    assert (row["qmtype"], row["suspended"]) == ("NORMAL", False)


def test_a_view_tells_what_it_shows_and_a_blank_status_is_not_told():
    channel = ("CLUSQMGR(QM2)", "CHANNEL(C)", "CLUSTER(K)")
    status = ("CHANNEL(C)", "CHLTYPE(CLUSSDR)", "RQMNAME(QM2)", "STATUS(RUNNING)")
    text = clusqmgr(*channel, "CLWLPRTY(5)") + chstatus(*status, "XMITQ(X)")
    before = read_text(session("QM1", text), "before").rows
    text = clusqmgr(*channel, "SUSPEND(NO)") + chstatus(*status[:3], "STATUS(RETRYING)", "XMITQ( )")
    rows = apply_changes(before, session("QM1", text), "a", "QM1").rows
    assert [(x["clwlprty"], x["suspended"]) for x in rows["cluster_channels"]] == [(5, False)]
    assert [(x["status"], x["xmitq"]) for x in rows["channel_status"]] == [("RETRYING", "X")]


def test_the_newer_display_changes_what_it_shows_and_nothing_else():
    old = queue("QUEUE(A)", "TYPE(QLOCAL)", "PUT(DISABLED)", "CLWLPRTY(3)", "ALTDATE(2026-01-01)")
    new = queue("QUEUE(A)", "TYPE(QLOCAL)", "PUT(ENABLED)", "ALTDATE(2026-01-02)")
    texts = [("old", session("QM1", old)), ("new", session("QM1", new))]
    for sources in (texts, texts[::-1]):
        reading = read_texts(sources)
        row = one(reading, "queues")
        assert (row["put_enabled"], row["clwlprty"]) == (True, 3)
        assert reading.rejects == []
        assert reading.altered["queues"] == ["2026-01-02"]


def test_cluster_times_tell_the_newer_view():
    texts = [
        (day, session("QM1", clusqmgr("CLUSQMGR(QM2)", "CHANNEL(C)", "CLUSTER(K)",
                                      f"CLWLPRTY({day})", f"CLUSDATE(2026-01-0{day})")))
        for day in "21"
    ]  # fmt: skip
    assert one(read_texts(texts), "cluster_channels")["clwlprty"] == 2


def test_no_order_of_the_texts_makes_an_older_time_count():
    day = "ALTDATE(2026-01-0{})"
    shown = [
        ("CLUSTER(K)", "PUT(DISABLED)", "CLWLRANK(1)", day.format(1)),
        ("CLUSTER(K)", "PUT(ENABLED)", day.format(2)),
        ("CLUSTER(K)", "PUT(DISABLED)", "CLWLPRTY(3)", day.format(3)),
        ("CLWLPRTY(3)",),
    ]
    texts = [
        (str(number), session("QM1", queue("QUEUE(A)", "TYPE(QLOCAL)", *attributes)))
        for number, attributes in enumerate(shown)
    ]
    for sources in permutations(texts):
        reading = read_texts(sources)
        row = one(reading, "queues")
        assert (row["put_enabled"], row["clwlprty"], row["clwlrank"]) == (False, 3, 1)
        assert (reading.rejects, reading.altered["queues"]) == ([], ["2026-01-03"])


def test_what_no_time_tells_is_a_reject_beside_all_times_in_any_order():
    dated = [("CLWLPRTY(1)", "ALTDATE(2026-01-01)"), ("CLWLPRTY(2)", "ALTDATE(2026-01-02)")]
    shown = [("CLWLPRTY(1)",), *dated]
    texts = [
        (str(number), session("QM1", queue("QUEUE(A)", "TYPE(QLOCAL)", "CLUSTER(K)", *attributes)))
        for number, attributes in enumerate(shown)
    ]
    for sources in permutations(texts):
        (reject,) = read_texts(sources).rejects
        assert "clwlprty" in reject.reason
        assert "2 at 2:" in reject.reason


def test_a_later_file_alters_and_deletes_what_an_earlier_one_defines():
    first = ("a", OWN + "DEF QL(A) CLUSTER(K) CLWLPRTY(1)\nDEF QL(B)\nDEF QL(T) DEFBIND(GROUP)")
    change = ("b", OWN + "ALTER QL(A) CLWLPRTY(2)\nDELETE QL(B)\nDEF QL(C) LIKE(T) CLUSTER(K)")
    reading = read_texts([first, change])
    rows = {row["queue"]: row for row in reading.rows["queues"]}
    assert set(rows) == {"A", "C", "T"}
    assert (rows["A"]["clwlprty"], rows["A"]["source"]) == (2, "a:2")
    assert (rows["C"]["defbind"], rows["C"]["source"]) == ("GROUP", "b:4")
    assert reading.rejects == []
    before = read_texts([change, first])
    assert [reject.line for reject in before.rejects] == [2, 4]


MADE = "DEF QL(NEW) CLUSTER(K)\n"
DEFAULT = "DEF QL(SYSTEM.DEFAULT.LOCAL.QUEUE) DEFBIND(NOTFIXED) CLWLPRTY(4) REPLACE\n"


@pytest.mark.parametrize(
    ("change", "made"),
    [
        (MADE, ("NOTFIXED", 4)),
        ("ALTER QL(SYSTEM.DEFAULT.LOCAL.QUEUE) CLWLPRTY(5)\n" + MADE, ("NOTFIXED", 5)),
        (MADE + "ALTER QL(SYSTEM.DEFAULT.LOCAL.QUEUE) CLWLPRTY(5)\n", ("NOTFIXED", 4)),
        ("DEF QL(NEW) LIKE(SYSTEM.DEFAULT.LOCAL.QUEUE) CLWLPRTY(1)", ("NOTFIXED", 1)),
        ("DEF QL(A) CLUSTER(K)\nDEF QL(NEW) LIKE(A)", ("NOTFIXED", 4)),
    ],
)
def test_a_new_object_starts_as_the_default_object_of_the_base(change, made):
    earlier = read_text(OWN + DEFAULT, "before").rows
    rows = {x["queue"]: x for x in apply_changes(earlier, change, "a", "QM1").rows["queues"]}
    assert (rows["NEW"]["defbind"], rows["NEW"]["clwlprty"]) == made
    altered = rows.get("SYSTEM.DEFAULT.LOCAL.QUEUE", {"clwlprty": 4})
    assert altered["clwlprty"] == (5 if "ALTER" in change else 4)


def test_a_default_object_that_an_earlier_text_alters_is_whole_for_a_later_one():
    alter = "ALTER QL(SYSTEM.DEFAULT.LOCAL.QUEUE) CLWLPRTY(5)\n"
    reading = read_texts([("a", DEFAULT), ("b", alter), ("c", MADE)], "QM1")
    (row,) = [x for x in reading.rows["queues"] if x["queue"] == "NEW"]
    assert (row["defbind"], row["clwlprty"]) == ("NOTFIXED", 5)


def test_an_object_that_is_shown_in_one_more_cluster_has_its_attributes_there():
    names = "AMQ8550I: Display namelist details.\n   NAMELIST(N)   NAMES(K,J)\n"
    earlier = read_text(session("QM1", queue("QUEUE(A)", "TYPE(QLOCAL)", "CLUSTER(K)",
                                             "CLWLPRTY(5)")), "a").rows  # fmt: skip
    more = session("QM1", names, queue("QUEUE(A)", "TYPE(QLOCAL)", "CLUSNL(N)"))
    rows = apply_changes(earlier, more, "b", "QM1").rows["queues"]
    assert [(row["cluster"], row["clwlprty"]) for row in rows] == [("J", 5)]
