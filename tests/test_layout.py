"""The house: no circle of imports, and every room is on the page that says where things are."""

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "clwl_spark"
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in PACKAGE.rglob("*.py")
}


def imported(path: Path) -> Iterator[str]:
    """Modules of the package that a file imports, within functions too."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module in MODULES:
            for name in node.names:
                inner = f"{node.module}.{name.name}"
                yield inner if inner in MODULES else node.module


def test_no_module_imports_itself_by_way_of_others():
    graph = {name: {*imported(path)} - {name} for name, path in MODULES.items()}
    assert sum(map(len, graph.values())) > 1000
    TopologicalSorter(graph).prepare()


def test_every_room_is_told_where_things_are():
    rooms = {x.name for x in PACKAGE.iterdir() if (x / "__init__.py").exists()}
    assert len(rooms) <= 15
    page = (ROOT / "docs" / "contributing.md").read_text("utf-8")
    assert {x for x in rooms if f"| `clwl_spark/{x}` |" not in page} == set()


def test_a_package_says_what_is_in_it():
    packages = [path for path in MODULES.values() if path.name == "__init__.py"]
    assert [x for x in packages if not ast.get_docstring(ast.parse(x.read_text("utf-8")))] == []
