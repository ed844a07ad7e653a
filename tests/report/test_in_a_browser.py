"""The page in Chromium: it draws, complains of nothing, and fits screens wide and narrow."""

import json
import re
import shutil
import subprocess

import pytest
from report.report_worlds import LONG, SCRIPT, crowd, nasty, parcels

from clwl_spark.present.report.page import page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")

MEASURE = """<script>addEventListener("load", () => {
  const told = {
    figures: [...document.querySelectorAll("figure")].map(x => x.id),
    drawn: [...document.querySelectorAll(".chart svg")].map(x => x.getBoundingClientRect())
      .every(box => box.width > 200 && box.height > 20),
    beyond: document.documentElement.scrollWidth - innerWidth,
    page: getComputedStyle(document.body).backgroundColor,
    ink: getComputedStyle(document.querySelector(".chart text")).fill,
    loaded: performance.getEntriesByType("resource").length,
  };
  document.title = "told " + JSON.stringify(told);
});</script>"""
"""Added for the test alone: the page itself has no script."""


def opened(folder, html, *words, width=1200):
    """What the browser measures, and what it writes to its console."""
    file = folder / "page.html"
    file.write_text(html.replace("</body>", f"{MEASURE}</body>"), encoding="utf-8")
    done = subprocess.run(
        [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
            f"--user-data-dir={folder / 'profile'}", f"--window-size={width},900", "--dump-dom",
            *words, file.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    found = re.search(r"<title>told (.*?)</title>", done.stdout)
    return json.loads(found[1]), [x for x in done.stderr.splitlines() if "CONSOLE" in x]


def test_every_chart_is_drawn_and_nothing_is_fetched(tmp_path):
    told, console = opened(tmp_path, page(parcels()))
    assert console == []
    assert told["figures"][0] == "figure-map"
    assert len(told["figures"]) == 7
    assert told["drawn"]
    assert told["loaded"] == 0
    assert told["beyond"] <= 0


def test_dark_screens_get_a_dark_page_with_light_charts(tmp_path):
    light, _ = opened(tmp_path, page(parcels()))
    dark, _ = opened(tmp_path, page(parcels()), "--blink-settings=preferredColorScheme=0")
    assert (light["page"], dark["page"]) == ("rgb(245, 246, 248)", "rgb(20, 24, 30)")
    assert light["ink"] != dark["ink"]


@pytest.mark.parametrize("world", [parcels(), nasty(SCRIPT), nasty(LONG), crowd(300)])
def test_narrow_screens_need_no_sideways_scrolling(tmp_path, world):
    told, console = opened(tmp_path, page(world), width=500)
    assert console == []
    assert told["beyond"] <= 0
    assert told["drawn"]
