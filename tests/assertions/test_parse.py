"""The grammar: what is read, what is printed, and what is said of a text that is no fact."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clwl_spark.checks.assertions import model as m
from clwl_spark.checks.assertions.parse import FactError, parse
from clwl_spark.checks.assertions.wording import KEYWORDS, statement_words
from clwl_spark.mq.vocabulary import REASON_TEXTS

ORDERS = m.Request(object_name="ORDERS", sender="APP1")
READ = {
    "share(ORDERS from APP1 to QM1) <= 0.4 when QM2 down": m.Statement(
        fact=m.Share(request=ORDERS, to="QM1", comparison=m.Comparison.AT_MOST, figure="0.4"),
        conditions=(m.QmgrDown(qmgr="QM2"),),
    ),
    "share(ORDERS from APP1 over channel TO.QM1) > 40 %": m.Statement(
        fact=m.Share(request=ORDERS, over="TO.QM1", comparison=m.Comparison.MORE, figure="40%")
    ),
    "share(ORDERS from APP1 to QM1 over TO.QM1) != 5/7": m.Statement(
        fact=m.Share(
            request=ORDERS, to="QM1", over="TO.QM1", comparison=m.Comparison.UNEQUAL, figure="5/7"
        )
    ),
    "never crosses cluster PUBLIC (ORDERS from APP1)": m.Statement(
        fact=m.Crosses(request=ORDERS, cluster="PUBLIC"), is_negated=True
    ),
    "not crosses cluster PUBLIC (ORDERS from APP1)": m.Statement(
        fact=m.Crosses(request=ORDERS, cluster="PUBLIC"), is_negated=True
    ),
    "NOT NEVER GOES  TO Queue Manager QM7 (ORDERS FROM APP1)": m.Statement(
        fact=m.GoesTo(request=ORDERS, qmgr="QM7")
    ),
    "reachable(ORDERS at QM9 from APP1) when any channel down": m.Statement(
        fact=m.Reachable(request=ORDERS.model_copy(update={"object_qmgr": "QM9"})),
        conditions=(m.AnyDown(kind="channel"),),
    ),
    "hops(topic 'a/b #''c' from APP1) < 2": m.Statement(
        fact=m.Count(
            kind="hops",
            request=m.Request(object_name="a/b #'c", sender="APP1", is_topic=True),
            comparison=m.Comparison.LESS,
            count=2,
        )
    ),
    "reason(ORDERS from APP1) = mqrc_unknown_object_name": m.Statement(
        fact=m.ReasonIs(request=ORDERS, comparison=m.Comparison.EQUAL, reason=2085)
    ),
    "not destinations(ORDERS from APP1) >= 2 when QM1 is down and channel TO.QM3 stopped": (
        m.Statement(
            fact=m.Count(
                kind="destinations", request=ORDERS, comparison=m.Comparison.AT_LEAST, count=2
            ),
            is_negated=True,
            conditions=(m.QmgrDown(qmgr="QM1"), m.ChannelStopped(channel="TO.QM3")),
        )
    ),
    "reachable(ORDERS from APP1) when cluster K down and channel C to QM1 on qmgr QM2 stopped "
    "and any qmgr down and any cluster is down": m.Statement(
        fact=m.Reachable(request=ORDERS),
        conditions=(
            m.ClusterDown(cluster="K"),
            m.ChannelStopped(channel="C", to="QM1", on="QM2"),
            m.AnyDown(kind="queue manager"),
            m.AnyDown(kind="cluster"),
        ),
    ),
    "Separate(ORDERS from APP1, topic 'a' from qmgr APP2)": m.Statement(
        fact=m.Separate(
            request=ORDERS, other=m.Request(object_name="a", sender="APP2", is_topic=True)
        )
    ),
    "reachable('TOPIC' from 'ANY') when 'channel' down": m.Statement(
        fact=m.Reachable(request=m.Request(object_name="TOPIC", sender="ANY")),
        conditions=(m.QmgrDown(qmgr="channel"),),
    ),
}
WRONG = {
    "shares(ORDERS from APP1 to QM1) = 1": (0, "or share (did you mean 'share'?), found 'shares'"),
    "share(ORDERS form APP1 to QM1) = 1": (13, "at or from (did you mean 'from'?), found 'form'"),
    "share(ORDERS from APP1) = 1": (22, "expected over or to, found ')'"),
    "share(ORDERS from APP1 to QM1) == 1": (32, "expected a share like 0.4, 40% or 5/7, found '='"),
    "share(ORDERS from APP1 to QM1) = 40": (33, "a share of 1 or 100% at most; perhaps 40%, found"),
    "share(ORDERS from APP1 to QM1) = 101%": (33, "expected a share of 1 or 100% at most, found"),
    "share(ORDERS from APP1 to QM1) = 1/0": (33, "expected a share of 1 or 100% at most, found"),
    "share(ORDERS from APP1 to QM1) =": (
        32,
        "expected a share like 0.4, 40% or 5/7, found the end",
    ),
    "hops(ORDERS from APP1) <= 1.5": (
        26,
        "expected a whole number, found '1.5'; for example: hops",
    ),
    "hops(ORDERS from APP1) <= " + "9" * 5000: (26, "expected a whole number, found '999"),
    "hops(ORDERS from APP1  ": (21, "expected ')', found the end"),
    "hops(ORDERS from APP1) <= 1 then": (28, "(did you mean 'when'?), found 'then'"),
    "reason(ORDERS from APP1) < 2085": (25, "expected = or !=, found '<'; for example: reason"),
    "reason(ORDERS from APP1) = 2086": (27, "did you mean '2087'?), found '2086'"),
    "reason(ORDERS from APP1) = mqrc_none_": (27, "did you mean 'MQRC_NONE'?"),
    "reachable('MY QUEUE' from APP1)": (10, "a name of 48 letters, digits"),
    "reachable(ORDERS from APP1) when channel A2345678901234567890B stopped": (
        41,
        "a name of 20 letters, digits",
    ),
    "reachable(topic '' from APP1)": (16, "expected a topic string, found \"''\""),
    "reachable('ORDERS from APP1)": (10, 'whose quote is closed, found "\'"'),
    "reachable(": (10, "expected a name or topic, found the end"),
    "reachable(ORDERS from APP1) when ": (
        32,
        "expected a name, any, channel, cluster or queue manager, found the end",
    ),
    "separate(ORDERS from APP1)": (
        25,
        "expected ',', found ')'; for example: separate(AUDIT from APP1, ORDERS from APP1)",
    ),
    "never reachable(ORDERS from APP1)": (
        6,
        "crosses or goes to, found 'reachable'; for example: ",
    ),
    "reachable(ORDERS from APP1) when TO.QM2 stopped": (
        40,
        "expected down or is, found 'stopped'; for example: ... when QM2 down and channel TO.QM3",
    ),
    "": (0, "or share, found the end; for example: share("),
}


@pytest.mark.parametrize("text", READ)
def test_a_fact_is_read(text):
    assert parse(text) == READ[text]


@pytest.mark.parametrize("text", WRONG)
def test_a_text_that_is_no_fact_is_refused_with_its_place(text):
    offset, said = WRONG[text]
    with pytest.raises(FactError) as refused:
        parse(text)
    assert said in str(refused.value)
    assert refused.value.offset == offset
    assert refused.value.exit_code == 2


def test_keywords_are_in_any_case_and_names_in_their_own():
    assert parse("REACHABLE(orders FROM App1) WHEN qm1 DOWN") == m.Statement(
        fact=m.Reachable(request=m.Request(object_name="orders", sender="App1")),
        conditions=(m.QmgrDown(qmgr="qm1"),),
    )


def test_a_name_may_begin_like_a_keyword():
    fact = parse("reachable(TOPIC.A at AT1 from FROM.B) when channel TO.ANY to TO1 on ON1 stopped")
    assert fact.fact.request == m.Request(object_name="TOPIC.A", object_qmgr="AT1", sender="FROM.B")
    assert fact.conditions == (m.ChannelStopped(channel="TO.ANY", to="TO1", on="ON1"),)


@pytest.mark.parametrize(
    ("text", "value"), [("0.4", 0.4), ("40%", 0.4), (".4", 0.4), ("2/5", 0.4), ("100%", 1)]
)
def test_a_share_is_a_number_a_percentage_or_a_fraction(text, value):
    fact = parse(f"share(ORDERS from APP1 to QM1) = {text}").fact
    assert float(m.fraction_of(fact.figure)) == value


LETTERS = st.sampled_from("ABCXYZabcxyz0189._/%")
NAMES = st.text(LETTERS, min_size=1, max_size=48) | st.sampled_from(sorted(KEYWORDS)).flatmap(
    lambda x: st.sampled_from((x, x.upper()))
)
CHANNELS = st.text(LETTERS, min_size=1, max_size=20) | st.sampled_from(("TO", "channel", "ON"))
TOPICS = st.text(min_size=1, max_size=30) | st.sampled_from(("'", "''", "a'b/#"))
FIGURES = (
    st.decimals(0, 1, places=3).map(lambda x: f"{x:f}")
    | st.integers(0, 100).map(lambda x: f"{x}%")
    | st.tuples(st.integers(1, 99), st.integers(1, 99)).map(lambda x: f"{min(x)}/{max(x)}")
)
SIGNS = st.sampled_from(m.Comparison)
REQUESTS = st.builds(
    m.Request, object_name=NAMES, sender=NAMES, object_qmgr=NAMES | st.just("")
) | st.builds(m.Request, object_name=TOPICS, sender=NAMES, is_topic=st.just(True))
TARGETS = st.tuples(NAMES, CHANNELS) | st.tuples(NAMES, st.none()) | st.tuples(st.none(), CHANNELS)
FACTS = (
    st.builds(
        lambda request, ends, sign, figure: m.Share(
            request=request, to=ends[0], over=ends[1], comparison=sign, figure=figure
        ),
        REQUESTS,
        TARGETS,
        SIGNS,
        FIGURES,
    )
    | st.builds(
        m.Count,
        kind=st.sampled_from(("destinations", "hops")),
        request=REQUESTS,
        comparison=SIGNS,
        count=st.integers(0, 999_999_999),
    )
    | st.builds(
        m.ReasonIs,
        request=REQUESTS,
        comparison=st.sampled_from((m.Comparison.EQUAL, m.Comparison.UNEQUAL)),
        reason=st.sampled_from(sorted(REASON_TEXTS)),
    )
    | st.builds(m.Reachable, request=REQUESTS)
    | st.builds(m.Crosses, request=REQUESTS, cluster=NAMES)
    | st.builds(m.GoesTo, request=REQUESTS, qmgr=NAMES)
    | st.builds(m.Separate, request=REQUESTS, other=REQUESTS)
)
CONDITIONS = (
    st.builds(m.QmgrDown, qmgr=NAMES)
    | st.builds(m.ChannelStopped, channel=CHANNELS, to=NAMES | st.none(), on=NAMES | st.none())
    | st.builds(m.ClusterDown, cluster=NAMES)
    | st.builds(m.AnyDown, kind=st.sampled_from(("channel", "queue manager", "cluster")))
)
STATEMENTS = st.builds(
    m.Statement,
    fact=FACTS,
    is_negated=st.booleans(),
    conditions=st.lists(CONDITIONS, max_size=3).map(tuple),
)


@settings(deadline=None, max_examples=300)
@given(STATEMENTS)
def test_what_is_printed_is_read_back(statement):
    assert parse(statement_words(statement)) == statement


@settings(deadline=None, max_examples=300)
@given(STATEMENTS, st.data())
def test_any_text_is_read_or_refused_with_a_place_in_it(statement, data):
    words = statement_words(statement)
    start = data.draw(st.integers(0, len(words)))
    text = words[:start] + data.draw(st.text(max_size=5)) + words[start + 2 :]
    refused, read = tried(text)
    if refused is None:
        assert parse(statement_words(read)) == read
    else:
        assert 0 <= refused.offset <= len(text)
        assert str(refused).startswith("expected ")


def tried(text):
    try:
        return None, parse(text)
    except FactError as error:
        return error, None
