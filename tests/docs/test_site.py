"""The documentation is of this code: generated pages, links, paths and tables."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from clwl_spark.algorithm.ladder import EXIT, LADDER, ORDER
from clwl_spark.checks.quality.results import Scope
from clwl_spark.checks.quality.suites import load_gates
from clwl_spark.cli.entry import PANELS
from clwl_spark.mq.vocabulary import REASON_TEXTS, Algorithm, RejectError
from clwl_spark.present.questions.texts import all_questions, all_views
from clwl_spark.settings import Settings
from clwl_spark.tables import TABLES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
WRITTEN = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


@pytest.fixture(scope="module")
def made():
    """The generated pages by their path within the site."""
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.pages()


def named(page, names, form="{{ #{0} }}"):
    """The names of which a page has no section."""
    return [x for x in names if form.format(x) not in page]


def test_the_reference_has_all_that_the_code_has(made):
    commands = [x.__name__.strip("_").replace("_", "-") for panel in PANELS.values() for x in panel]
    assert named(made["reference/commands.md"], commands) == []
    assert named(made["reference/settings.md"], Settings.model_fields) == []
    assert named(made["reference/tables.md"], TABLES) == []
    assert named(made["reference/views.md"], [*all_views(), *all_questions()]) == []
    gates = [x for scope in Scope for x in load_gates(scope).ids]
    assert named(made["reference/gates.md"], gates, "| `{0}` |") == []
    assert named(made["reference/reasons.md"], [*REASON_TEXTS, *RejectError], "{0}") == []


def test_every_column_option_and_rule_is_there_with_its_meaning(made):
    columns = [x.name for table in TABLES.values() for x in table.columns]
    assert made["reference/tables.md"].count("\n| `") == len(columns)
    assert "`--duplicates` `keep|reject`" in made["reference/commands.md"]
    assert named(made["reference/rules.md"], [x.title for x in LADDER], "{0}") == []


def test_the_rules_told_are_the_rules_applied():
    text = (DOCS / "concepts" / "how-mq-chooses.md").read_text(encoding="utf-8")
    told = re.findall(r"(?m)^\| (\d+)(?:\u2013(\d+))? \|", text)
    numbers = [tuple(range(int(x), int(y or x) + 1)) for x, y in told]
    assert numbers == list(ORDER[Algorithm.V9])
    assert (EXIT,) in numbers


def test_links_lead_to_pages(made):
    broken = []
    for page in WRITTEN:
        for link in LINK.findall(page.read_text(encoding="utf-8")):
            target = (page.parent / link).resolve()
            if not target.exists() and target not in {DOCS / x for x in made}:
                broken.append((str(page.relative_to(ROOT)), link))
    assert broken == []


def test_every_page_is_in_the_navigation(made):
    nav = set(re.findall(r"(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert nav == pages | set(made)


def test_what_contributing_names_is_there():
    text = (DOCS / "contributing.md").read_text(encoding="utf-8")
    paths = set(
        re.findall(r"`((?:clwl_spark|tests|docs|conf|jobs|benchmarks)(?:/[\w./-]*)?)`", text)
    )
    assert len(paths) > 40
    assert [x for x in sorted(paths) if not (ROOT / x).exists()] == []


def test_pictures_say_what_they_show():
    pictures = sorted((DOCS / "images").glob("*.svg"))
    assert pictures
    for picture in pictures:
        text = picture.read_text(encoding="utf-8")
        assert "<title" in text, picture.name
        assert "<desc" in text, picture.name
        assert any(picture.name in x.read_text(encoding="utf-8") for x in WRITTEN), picture.name


def test_the_site_is_built_and_fetches_nothing(tmp_path):
    pytest.importorskip("mkdocs")
    pytest.importorskip("material")
    pytest.importorskip("mkdocstrings")
    command = [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "start.html").read_text(encoding="utf-8")
    assert not re.search(r'<(?:script|link|img)[^>]*(?:src|href)="https?:', page)
