from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clwl_spark.mq.read.joining import join
from clwl_spark.mq.read.mqsc import cook_list, parse
from clwl_spark.mq.read.records import PieceRefusedError

NAMES = st.text(alphabet="AZaz09./_% ',", min_size=1, max_size=20).filter(
    lambda name: name == name.strip() and name.strip("' ,")
)


@given(name=NAMES, cluster=NAMES)
def test_quoted_names_survive_as_they_are(name, cluster):
    quoted = [value.replace("'", "''") for value in (name, cluster)]
    command = parse("DEF QL('{}') CLUSTER('{}')".format(*quoted))
    assert (command.name, command.attributes["CLUSTER"]) == (name, cluster)


@given(text=st.text(max_size=60))
def test_any_text_parses_or_is_refused(text):
    with suppress(PieceRefusedError):
        assert parse(f"DEFINE QLOCAL(A) {text}").name == "A"


@given(words=st.lists(st.sampled_from(["DEFINE", "QL(A)", "PUT(ENABLED)", "SHARE"]), min_size=1))
def test_a_command_reads_the_same_wherever_its_lines_are_cut(words):
    plain = " ".join(words)
    lines = [word + " +  " for word in words[:-1]] + [words[-1]]
    lines[1:1] = ["* a comment +", ""] if len(words) > 1 else []
    assert join(lines, 0, lines[0]).text.split() == plain.split()


def test_unquoted_names_are_folded_and_quoted_ones_kept():
    assert parse("define ql(abc.d)").name == "ABC.D"
    assert parse("define ql('abc.d')").name == "abc.d"


def test_a_doubled_quote_is_one_quote():
    assert parse("DEF TOPIC(T) TOPICSTR('it''s')").attributes == {"TOPICSTR": "it's"}


def test_a_blank_value_is_empty():
    assert parse("DEF QR(A) RNAME(' ') XMITQ('')").attributes == {"RNAME": "", "XMITQ": ""}


def test_blanks_before_parentheses_and_commas_between_attributes_are_fine():
    command = parse("DEFINE QLOCAL (A) , USAGE (XMITQ),CLCHNAME( 'TO.*' ) REPLACE;")
    assert command.attributes == {"USAGE": "XMITQ", "CLCHNAME": "TO.*"}
    assert command.replace


def test_attributes_that_do_not_matter_are_skipped_whatever_they_hold():
    text = "DEF QL(A) DESCR('CLUSTER(X) it''s ) fine (') HARDENBO MAXDEPTH(5) CLUSTER(K)"
    assert parse(text).attributes == {"CLUSTER": "K"}


@pytest.mark.parametrize(
    ("text", "word", "value"),
    [
        ("DEF QA(A) TARGQ(B)", "TARGET", "B"),
        ("ALT QM(A) PUT(DISABLED)", "PUT", "DISABLED"),
        ("ALTER CHL(C) CHLTYPE(clusrcvr)", "CHLTYPE", "CLUSRCVR"),
        ("DEF NL(N) NAMES(A, 'b')", "NAMES", "A, 'b'"),
    ],
)
def test_abbreviations_and_synonyms(text, word, value):
    assert parse(text).attributes[word] == value


@pytest.mark.parametrize(
    "text",
    [
        "DEFINE QLOCAL",
        "DEFINE QLOCAL()",
        "DEFINE QLOCAL(' ')",
        "DEFINE QLOCAL(A",
        "DEFINE QLOCAL('A)",
        "DEFINE QLOCAL(A) CLUSTER",
        "DEFINE QLOCAL(A) <x>",
        "DEFINE QLOCAL(A) CLUSTER(K))",
    ],
)
def test_what_is_no_sentence_is_refused(text):
    with pytest.raises(PieceRefusedError):
        parse(text)


def test_an_unclosed_quote_fails_at_once():
    with pytest.raises(PieceRefusedError):
        parse("DEFINE QLOCAL(A) CLUSTER(" + "('a" * 5000)


def test_plus_goes_on_with_the_first_non_blank_and_minus_with_column_one():
    assert join(["DEF QL(A.+", "    B)"], 0, "DEF QL(A.+").text == "DEF QL(A.B)"
    assert join(["DEF QL(A.-", "B)"], 0, "DEF QL(A.-").text == "DEF QL(A.B)"
    assert join(["X -", "  Y"], 0, "X -").text == "X   Y"


def test_a_plus_in_mid_line_continues_nothing():
    assert join(["DEF QL(+QMNAME+)", "NEXT"], 0, "DEF QL(+QMNAME+)").next_index == 1


def test_comment_lines_within_a_command_give_its_notes():
    lines = ["ALTER QMGR +", "*  QMID(QM1_2026-01-02_03.04.05) +", "  FORCE"]
    assert join(lines, 0, lines[0]).notes == {"QMID": "QM1_2026-01-02_03.04.05"}


def test_a_list_over_lines_keeps_its_names():
    assert cook_list("'A' ,b,'c d', ,A") == ["A", "B", "c d"]
    assert cook_list("") == []
