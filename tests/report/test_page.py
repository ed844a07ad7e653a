"""The page, from hand-made data: what is in it, what stays text, and what it needs."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from report.report_worlds import BIDI, LONG, SCRIPT, crowd, nasty, one_outcome, parcels, seen

from clwl_spark.present.report.aggregate import bucket_width
from clwl_spark.present.report.data import ReportData
from clwl_spark.present.report.page import page
from clwl_spark.present.report.surprises import surprises
from clwl_spark.present.report.words import counted, lasting, named, percent, told_apart
from clwl_spark.tables.moments import LAST

ORDER = ["surprises", "map", "shares", "rules", "flows", "failures"]
VOID = {"meta", "br", "img", "input", "link", "hr"}


class Reader(HTMLParser):
    """Elements in order, with their attributes; refuses tags that do not match."""

    def __init__(self):
        super().__init__()
        self.seen, self.open, self.texts = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def elements(html):
    reader = Reader()
    reader.feed(html)
    assert reader.open == []
    return reader.seen


def texts(html):
    reader = Reader()
    reader.feed(html)
    return reader.texts


@pytest.fixture(scope="module")
def html():
    return page(parcels())


def test_sections_stand_in_order_with_a_figure_each(html):
    seen = elements(html)
    assert [x["id"] for tag, x in seen if tag == "section"] == ORDER
    figures = [x["id"] for tag, x in seen if tag == "figure"]
    assert figures == [
        f"figure-{x}"
        for x in ("map", "shares-1", "shares-2", "rules", "flows", "failures", "rejected")
    ]
    charts = [x for _, x in seen if x.get("role") == "img"]
    assert len(charts) == html.count("<svg") == html.count("<details>") == len(figures)
    assert all(re.search(r"\d", x["aria-label"]) for x in charts)


def test_the_page_stands_alone(html):
    names = {name for _, attributes in elements(html) for name in attributes}
    assert names.isdisjoint({"src", "xlink:href", "onload", "srcset"})
    assert all(x["href"].startswith("#") for _, x in elements(html) if "href" in x)
    for word in ("<script", "http", "url(", "@import"):
        assert word not in html
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html


def test_charts_take_the_colours_of_the_page(html):
    svgs = "".join(re.findall(r"<svg.*?</svg>", html, re.DOTALL))
    used = set(re.findall(r"var\((--[\w-]+)\)", svgs))
    assert {"--ink", "--line", "--c1", "--s-good", "--s-warn"} <= used
    assert used <= set(re.findall(r"(--[\w-]+):", html))
    # What is drawn as black or grey would vanish on one of the two pages.
    assert not re.findall(r'(?:fill|stroke)="(?:#|black|gr[ae]y|rgb)', svgs)


def test_the_head_sums_up(html):
    assert "4,307 messages gave 4,300 outcomes: 98.8% have a destination" in html
    assert "50 failed and 7 messages could not be routed; " in html
    assert "2026-09-14 08:00:00 UTC to 2026-09-14 12:00:00 UTC" in html
    assert "noon (2,300 outcomes, since 2026-09-14 10:00:00 UTC)" in html


def test_surprises_come_by_messages_and_say_what_to_ask():
    found = surprises(parcels())
    assert [x.messages for x in found] == [1_700, 450, 300, 220, 25, 20, 12, 5, 2, 1]
    assert all(x >= y for x, y in pairwise([x.messages for x in found]))
    told = {x.messages: x for x in found}
    assert told[1_700].about == "FREIGHT.DEPOT1.SAT"
    assert "FREIGHT.DEPOT1.SAT is RETRYING and another channel is better (rule 8)" in (
        told[1_700].sentence
    )
    assert told[450].ask == "clwl explain --from SHOP1 --object PARCEL.IN --snapshot noon"
    assert "50.0% was expected: 300 of 1,400 messages went otherwise" in told[300].sentence
    assert told[25].sentence.startswith("All 25 messages put on SHOP2 to PARCEL.BOOK ended with")
    assert "2085 MQRC_UNKNOWN_OBJECT_NAME" in told[25].sentence
    assert told[20].sentence.startswith("20 of 400 messages")
    assert told[20].ask.endswith("--object-qmgr DEPOT9")
    assert told[1].ask == "clwl explain --from SHOP1 --object 'fleet/van 7' --object-type TOPIC"
    assert told[1].sentence.startswith("The one message put on SHOP1")


def test_more_surprises_than_a_reader_wants_are_counted():
    data = parcels()
    rows = tuple(
        replace(data.failures.rows[0], object_name=f"Q{at}", messages=at) for at in range(1, 26)
    )
    html = page(replace(data, failures=replace(data.failures, rows=rows)))
    assert html.count('<li class="kind-') == 15
    assert "clwl report --json lists them" in html
    assert "13 more in the table" in html


def test_the_funnel_follows_the_ladder(html):
    section = html[html.index('id="rules"') : html.index('id="flows"')]
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", section)
    left = [int(x.replace(",", "")) for x in cells[2::3]]
    assert left[0] == 9_000
    assert left[-1] == 9_000 - 400 - 1_200 - 1_700 - 300 - 100
    assert all(x >= y for x, y in pairwise(left))
    assert cells[0::3][1].startswith("1 ")
    assert cells[0::3][-2:] == ["0 same route", "15 recently used"]
    assert "Rule 8–11 channel status eliminated most, 1,700" in section  # noqa: RUF001


def test_shares_stand_beside_what_was_expected(html):
    section = html[html.index('id="shares"') : html.index('id="rules"')]
    assert "71.4% (50.0%)" in section
    assert "The 2 busiest of 3 pairs of object and sender; 1 other pair had 100 messages" in section
    assert "100 messages took 3 other ways" in section
    assert "hollow ones and figures in brackets were expected" in section
    alone = page(replace(parcels(), shares=parcels().shares[1:]))
    assert "were expected" not in alone
    assert ">Expected</th>" not in alone


def test_predictions_stand_beside_what_was_seen(html):
    assert "Predictions and what was seen" not in html
    told = page(replace(parcels(), conformity=seen()))
    assert [x["id"] for tag, x in elements(told) if tag == "section"] == [*ORDER, "conformity"]
    assert '<a href="#conformity">Predictions and what was seen</a>' in told
    section = told[told.index('<section id="conformity"') :]
    assert (
        "90 of 100 messages went where they were foretold to (90.00%); 103 records seen." in section
    )
    assert re.findall(r"<h([34])>([^<]*)<", section) == [
        ("3", "First disagreements"),
        ("4", "APP1:6, put 2026-09-14T08:00:05Z to APP1"),
        *(("3", x) for x in ("By queue manager", "By object", "By channel", "Not compared")),
    ]
    assert '<p class="said">WEIGHT</p>' in section
    assert "CLWLWGHT of APP1 is 25, not 50" in section
    assert "</meter> 75.0%" in section


def test_more_first_disagreements_than_a_reader_wants_are_counted():
    found = seen()
    many = replace(found, first_disagreements=[*found.first_disagreements] * 205)
    told = page(replace(parcels(), conformity=many))
    assert told.count("<article>") == 200
    assert "and 5 more" in told


def test_snapshots_are_marked_on_the_flows(html):
    section = html[html.index('id="flows"') : html.index('id="failures"')]
    assert "noon</text>" in section
    assert "monday</text>" not in section
    assert "In force from the vertical lines on: noon at 2026-09-14 10:00:00 UTC." in section
    assert section.count("<tr>") == 27


@pytest.mark.parametrize("name", [SCRIPT, '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}&amp;"])
def test_names_are_text_wherever_they_stand(name):
    html = page(nasty(name))
    tags = {tag for tag, _ in elements(html)}
    assert tags.isdisjoint({"script", "img"})
    told = [x for x in texts(html) if name in x]
    assert len(told) > 20
    assert html.count(f">{name}<") == 0


def test_names_of_any_length_and_with_controls_are_told():
    html = page(nasty(LONG))
    assert elements(html)
    assert max(len(x) for x in re.findall(r"<text[^>]*>([^<]*)</text>", html)) < 80
    odd = page(nasty(BIDI))
    assert "\u202e" not in odd
    assert "\x00" not in odd
    assert "a\ufffdb\ufffdc" in odd


def test_one_outcome_is_enough():
    html = page(one_outcome())
    assert "1 message gave 1 outcome: 100.0% have a destination, none failed; " in html
    assert "; no message was put to a channel that was down; " in html
    assert "nothing was out of the ordinary" in html
    assert "Nothing failed, and nothing was rejected." in html
    assert "No message had candidates to choose from." in html
    assert [x["id"] for tag, x in elements(html) if tag == "section"] == ORDER


def test_nothing_but_failures_is_told():
    data = parcels()
    html = page(ReportData(replace(data.head, failed=4_300), failures=data.failures))
    assert "No message has a destination." in html
    assert "No message went anywhere." in html
    assert "0.0% have a destination" in html


def test_three_hundred_queue_managers_are_forty_and_a_line():
    html = page(crowd(300))
    assert "The 40 busiest queue managers of 300 are shown; 260 are left out." in html
    assert "520 more channels not shown." in html
    assert len(html) < 1_000_000


@pytest.mark.parametrize(
    "seconds", [25, 60, 61, 90, 3_599, 3_600, 86_399, 86_400, 6 * 86_400, 40 * 86_400, 10**8]
)
def test_a_period_has_24_to_60_buckets(seconds):
    for first in (0, 1_789_372_800_000_001):
        last = first + seconds * 1_000_000
        width = bucket_width(first, last)
        assert 24 <= last // width - first // width + 1 <= 60


def test_words():
    assert (percent(0), percent(1), percent(0.0001), percent(0.99999)) == (
        "0.0%", "100.0%", "<0.1%", ">99.9%",
    )  # fmt: skip
    assert (counted(1, "message"), counted(2_000, "message")) == ("1 message", "2,000 messages")
    assert (lasting(900_000_000), lasting(86_400_000_000)) == ("15 minutes", "1 day")
    assert named(" ") == named(None) == "(blank)"
    assert told_apart(["ABCDEF", "ABCDEG", "X"], 4) == ["ABC…", "ABC… (2)", "X"]


def test_messages_at_the_end_of_time():
    data = parcels()
    width = data.timeline.width
    last = (LAST // width) * width
    late = replace(data.timeline, counts={(last, data.timeline.destinations[0]): 3})
    assert "<h2" in page(replace(data, timeline=late))


def test_messages_without_an_open_id_are_told_of():
    data = parcels()
    assert "without an open_id" not in page(data)
    told = page(replace(data, head=replace(data.head, own_opens=4_400)))
    assert "put ON_OPEN without an open_id: 4,400, each taken as an open of its own" in told
