"""What only a classic session of Apache Spark has is used in one room alone."""

import ast
from pathlib import Path

import clwl_spark

PACKAGE = Path(clwl_spark.__file__).parent
ROOM = PACKAGE / "spark"
CLASSIC = {
    "_jvm",
    "_jdf",
    "_jsc",
    "_jsparkSession",
    "localCheckpoint",
    "newSession",
    "parallelize",
    "persist",
    "rdd",
    "sparkContext",
}


def uses(file: Path) -> list[str]:
    """Attributes that only a classic session has, and Spark's context, with their lines."""
    found = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Attribute) and node.attr in CLASSIC:
            found.append(f"{file.relative_to(PACKAGE)}:{node.lineno} .{node.attr}")
        if isinstance(node, ast.ImportFrom) and node.module == "pyspark":
            names = {x.name for x in node.names} & {"SparkContext", "SparkConf", "StorageLevel"}
            found += [f"{file.relative_to(PACKAGE)}:{node.lineno} {x}" for x in names]
    return found


def test_what_classic_sessions_have_is_used_in_one_room_alone():
    outside = [x for x in PACKAGE.rglob("*.py") if ROOM not in x.parents]
    assert [use for file in outside for use in uses(file)] == []


def test_the_rule_sees_what_the_room_uses():
    inside = {use.split()[-1] for file in ROOM.glob("*.py") for use in uses(file)}
    assert {"._jvm", "._jsc", ".sparkContext", ".localCheckpoint", "SparkContext"} <= inside
