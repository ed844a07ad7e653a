import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mq.layouts import COMMANDS, DISPLAYS, Printed
from readings import read_text

TABLE = {"queue": "queues", "channel": "cluster_channels", "topic": "topics"}
NAME = {"queue": "queue", "channel": "channel", "topic": "topic"}
COLUMNS = {"put_enabled": "PUT", "pub_enabled": "PUB", "sub_enabled": "SUB"}

names = st.text(alphabet="AZaz09./_%", min_size=1, max_size=20)
numbers = st.integers(0, 9).map(str)
texts = st.text(alphabet="ab 'c.,/#+-*=", min_size=1, max_size=12).map(str.strip)
hosts = st.sampled_from(["h(1414)", "a.b.c(1),d(2)", "10.0.0.1"])


def some(**attributes):
    """Any choice of these attributes, in any order."""
    chosen = st.fixed_dictionaries({}, optional={k.upper(): v for k, v in attributes.items()})
    return chosen.flatmap(lambda found: st.permutations(list(found.items())).map(dict))


shared = {"cluster": names, "clwlprty": numbers, "clwlrank": numbers, "descr": texts}
queues = some(
    **shared,
    clwluseq=st.sampled_from(["LOCAL", "ANY", "QMGR"]),
    defbind=st.sampled_from(["OPEN", "NOTFIXED", "GROUP"]),
    put=st.sampled_from(["ENABLED", "DISABLED"]),
    usage=st.sampled_from(["NORMAL", "XMITQ"]),
    maxdepth=st.just("5000"),
)
channels = some(
    clwlwght=st.integers(1, 99).map(str), netprty=numbers, conname=hosts, descr=texts
).flatmap(lambda found: names.map(lambda cluster: {**found, "CLUSTER": cluster}))
topics = some(
    cluster=names,
    topicstr=texts.filter(lambda text: text.count("'") != 2),
    clroute=st.sampled_from(["DIRECT", "TOPICHOST"]),
    pub=st.sampled_from(["ENABLED", "DISABLED"]),
)
definitions = st.one_of(
    st.builds(Printed, st.just("queue"), st.just("QLOCAL"), names, queues),
    st.builds(Printed, st.just("channel"), st.just("CLUSRCVR"), names, channels),
    st.builds(Printed, st.just("topic"), st.just("LOCAL"), names, topics),
)


def value(keyword, text):
    if keyword in ("PUT", "PUB", "SUB"):
        return text == "ENABLED"
    return int(text) if keyword.startswith(("CLWLP", "CLWLR", "CLWLW", "NET")) else text


def check(printed, layout):
    text = layout(printed)
    reading = read_text(text, "any")
    assert reading.rejects == [], text
    assert reading.qmgrs == ("QM1",)
    (row,) = reading.rows[TABLE[printed.kind]]
    keywords = {column: COLUMNS.get(column, column.upper()) for column in row}
    found = {keyword: row[column] for column, keyword in keywords.items()}
    expected = {k: value(k, v) for k, v in printed.attributes.items() if k in found}
    assert {key: found[key] for key in expected} == expected, text
    untold = {"qmtype", "source", "observer", "qmgr", "cluster", "qtype", NAME[printed.kind]}
    others = set(row) - untold - {c for c, k in keywords.items() if k in expected}
    assert all(row[column] is None for column in others), text
    assert row[NAME[printed.kind]] == printed.name


@pytest.mark.parametrize("layout", COMMANDS)
@settings(deadline=None)
@given(printed=definitions)
def test_a_definition_reads_the_same_in_every_layout_of_commands(layout, printed):
    check(printed, layout)


@pytest.mark.parametrize("layout", DISPLAYS)
@settings(deadline=None)
@given(printed=definitions)
def test_a_definition_reads_the_same_in_every_layout_of_displays(layout, printed):
    plain = {key: text.replace("'", "").strip() or "x" for key, text in printed.attributes.items()}
    check(Printed(printed.kind, printed.subtype, printed.name, plain), layout)
