"""Great Expectations' own pages of a run, as an export."""

from quality.gate_worlds import changed, rows_of
from quality.mutants import MUTANTS

from clwl_spark.checks.quality.data_docs import data_docs
from clwl_spark.checks.quality.results import Scope
from clwl_spark.checks.quality.suites import Gates, load_gates
from clwl_spark.checks.quality.validate import judge_rows


def _of_queues():
    gates = load_gates(Scope.TOPOLOGY)
    return Gates(tuple(x for x in gates.expectations if x.table == "queues"), ())


def test_pages_of_a_run_are_exported(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    rows = rows_of(changed(*MUTANTS["queues.clwlrank"][0]))
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "ours.txt").write_text("stays")
    for _ in range(2):
        with data_docs(folder) as keep:
            judge_rows(None, rows, _of_queues(), keep)
    index = (folder / "index.html").read_text()
    assert "expectations/queues.html" in index
    (suite,) = (folder / "expectations").glob("*.html")
    assert "clwlrank" in suite.read_text()
    (last,) = (folder / "validations").rglob("*.html")
    assert "Failed" in last.read_text()
    assert (folder / "ours.txt").read_text() == "stays"
    assert not (tmp_path / "home").exists()


def test_nothing_is_made_where_nobody_asks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with data_docs(None) as keep:
        judge_rows(None, rows_of(changed()), _of_queues(), keep)
    assert list(tmp_path.iterdir()) == []
