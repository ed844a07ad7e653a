"""Answers on a page and on a terminal."""

from datetime import UTC, datetime
from io import StringIO

import pytest
from rich.console import Console
from rich.text import Text

from clwl_spark.api.shown import text_of
from clwl_spark.cli.ask import answer_table
from clwl_spark.cli.entry import main
from clwl_spark.cli.exit_codes import WRONG_USAGE
from clwl_spark.cli.screen import Screen, note
from clwl_spark.cli.tables import listing
from clwl_spark.present.printable import Printable
from clwl_spark.present.questions.page import page
from clwl_spark.present.questions.rendering import answer_document, cell
from clwl_spark.present.questions.running import Answer
from clwl_spark.present.questions.texts import Question, all_views

AT = datetime(2026, 9, 14, 6, tzinfo=UTC)
EVIL = '<script>alert("1")</script>'
ASKED = Question("why", f"Why {EVIL}?", "Read it.", "SELECT 1 WHERE 'a' < '<b>'")


def _answer(*rows, more=False):
    return Answer(ASKED, ("queue", "messages"), frozenset({"messages"}), rows, more)


def _page(answer):
    return page(f"lake of {EVIL}", [answer], all_views().values(), AT)


def _shown(answer):
    console = Console(width=120, record=True, file=open("/dev/null", "w"))  # noqa: PTH123, SIM115
    console.print(*answer_table(answer), sep="\n")
    return console.export_text()


def test_a_page_stands_alone_and_names_are_text():
    html = _page(_answer((EVIL, 1_000), (None, None)))
    assert "<script" not in html
    assert "http" not in html
    assert "src=" not in html
    assert html.count("&lt;script&gt;") == 6
    assert '<td class="number">1,000</td>' in html
    assert "<td></td>" in html
    assert "&#x27;&lt;b&gt;&#x27;" in html
    assert "prefers-color-scheme: dark" in html
    assert "Asked 2026-09-14 06:00:00 UTC" in html


def test_a_page_describes_the_views():
    html = _page(_answer())
    assert "<p>None.</p>" in html
    assert all(f"<code>{name}</code>" in html for name in all_views())
    assert "Of the object&#x27;s routed messages in that hour, 0 to 1" in html


def test_rows_beyond_the_limit_are_told_of():
    assert "there are more" not in _page(_answer(("Q", 1)))
    assert "The first 1 rows; there are more." in _page(_answer(("Q", 1), more=True))
    assert "The first 1 rows; more with --limit N" in _shown(_answer(("Q", 1), more=True))


def test_names_give_a_terminal_and_a_page_no_commands(capsys):
    evil = "\x1b[31mQ\x07\u202e\nR"
    answer = _answer((evil, 1))
    assert "\ufffd[31mQ\ufffd\ufffd\ufffdR" in _page(answer)
    assert answer_document(answer)["rows"][0]["queue"] == evil
    out = StringIO()
    Screen(out).show(Text(evil), listing(["name"], [[evil]]), "[bold]b[/bold]")
    assert out.getvalue().splitlines()[:2] == ["\ufffd[31mQ\ufffd", "R"]
    assert out.getvalue().endswith("b\n")
    commands = {"\x1b", "\x07", "\u202e"}
    assert not commands & set(out.getvalue())
    assert text_of(Text(evil)) == "\ufffd[31mQ\ufffd\nR"
    note(f"one\t{evil}")
    assert main(["explain", f"--{evil}"]) == WRONG_USAGE
    said = capsys.readouterr().err
    assert said.startswith("one\t\ufffd[31mQ\ufffd\ufffd\ufffdR\nclwl: ")
    assert not commands & set(said)


def test_styles_of_our_own_reach_a_terminal():
    console = Console(force_terminal=True, color_system="standard", width=40, file=StringIO())
    with console.capture() as shown:
        console.print(Printable(Text("b", style="bold")))
    assert shown.get() == "\x1b[1mb\x1b[0m\n"


def test_names_are_no_markup_on_a_terminal():
    shown = _shown(_answer(("[red]Q[/red]", 1)))
    assert "[red]Q[/red]" in shown
    assert "Read it." in shown
    assert "more" not in shown
    assert f"Why {EVIL}? None." in _shown(_answer())


@pytest.mark.parametrize(
    ("column", "value", "told"),
    [
        ("share", 0.7142, "71.4%"),
        ("failed_share", 0.0, "0.0%"),
        ("ratio", 1234.56, "1,234.6"),
        ("messages", 1234, "1,234"),
        ("reason", 2085, "2085"),
        ("put_seq", 123456, "123456"),
        ("is_route", True, "yes"),
        ("is_route", False, "no"),
        ("channel", None, ""),
        ("first_put", AT, "2026-09-14T06:00:00Z"),
    ],
)
def test_cells_are_told_to_readers(column, value, told):
    assert cell(column, value) == told


def test_the_document_keeps_fractions_and_has_moments_in_utc():
    answer = Answer(ASKED, ("share", "at"), frozenset({"share"}), ((0.25, AT), (None, None)), True)
    document = answer_document(answer)
    assert document["rows"] == [
        {"share": 0.25, "at": "2026-09-14T06:00:00Z"},
        {"share": None, "at": None},
    ]
    assert (document["name"], document["more"]) == ("why", True)
