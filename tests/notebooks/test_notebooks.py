"""The notebooks run from top to bottom on the demo's lake, and show what they promise."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from clwl_spark.cli import main

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
SHOWN = {
    "why_did_it_go_there": (
        "SHOP1 puts to PARCEL.IN: cluster queue PARCEL.BOOK, 2 routes from 3 candidates",
        "<caption>candidates</caption>",
        "<caption>routes</caption>",
        "<td>rule 8: channel RETRYING, while FREIGHT.DEPOT1 is RUNNING</td>",
        "<caption>hops</caption>",
        "'TARIFF.REQUEST': ['HUB1', 'HUB2']",
        "<th>last_good_put</th>",
        "<td>BIND_ON_OPEN</td>",
        "FREIGHT.DEPOT1 STOPPED: MOVED",
    ),
    "before_a_change": (
        "<th>expected_share</th>",
        "<td>FREIGHT.DEPOT1</td>",
        "What if STOP CHANNEL(FREIGHT.DEPOT1) ON SHOP1: of 4,210 outcomes on snapshot demo",
        "<caption>by queue manager</caption>",
        "<th>requests_stranded</th>",
        "<td>queue manager DEPOT1 down</td>",
        "<td>PASSED</td>",
        "<td>FAILED</td>",
        "2 of 3 assertions hold, 1 do not",
        "report.html: ",
    ),
}


@pytest.fixture(scope="module")
def place(spark, tmp_path_factory):  # noqa: ARG001 - the command finds the session running
    """The demo's lake, made once: each notebook would make its own."""
    lake = tmp_path_factory.mktemp("notebooks") / "lake"
    assert main(["demo", "--lake", str(lake), "--quiet"]) == 0
    return lake


@pytest.mark.parametrize("name", SHOWN)
def test_a_notebook_runs_and_shows_its_tables(name, place, monkeypatch, tmp_path):
    monkeypatch.setenv("CLWL_LAKE", str(place))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    # Without it Jupyter warns that its folders will be others one day.
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    folder = tmp_path / "run"
    folder.mkdir()
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=240, kernel_name="python3", resources=resources).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    shown = "\n".join(text for output in outputs for text in _texts(output))
    for words in SHOWN[name]:
        assert words in shown


@pytest.mark.parametrize("name", SHOWN)
def test_a_notebook_is_kept_without_outputs(name):
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in cells)
    assert notebook.cells[0].source.startswith("# ")


def test_every_notebook_is_run():
    assert {file.stem for file in NOTEBOOKS.glob("*.ipynb")} == set(SHOWN)


def _texts(output):
    """What a reader sees of an output."""
    if output.output_type == "stream":
        yield output.text
    data = output.get("data", {})
    yield from (str(data[kind]) for kind in ("text/html", "text/plain") if kind in data)
