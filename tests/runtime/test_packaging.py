import re
import subprocess
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from clwl_spark.spark.runtime.doctor import LIBRARIES
from clwl_spark.spark.runtime.jars import DELTA_JARS, jars_for

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / "requirements.txt").read_text()
LOCK_OF_DOCS = (ROOT / "requirements-docs.txt").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
BLOCK = re.compile(r"^[a-z][^\n]*(?:\n {4}[^\n]*)*", re.MULTILINE)


def requirement_of(block):
    return Requirement(block.splitlines()[0].rstrip(" \\"))


BLOCKS = BLOCK.findall(LOCK)
LOCKED = [requirement_of(block) for block in BLOCKS]


def test_the_lock_names_no_place_to_fetch_from():
    assert not re.search(r"https?:|--index|--extra-index|--find-links|file:|@", LOCK)


def test_every_locked_library_has_one_version_and_its_hashes():
    assert BLOCKS
    for block, requirement in zip(BLOCKS, LOCKED, strict=True):
        assert str(requirement.specifier).startswith("=="), requirement
        assert "--hash=sha256:" in block, requirement


def test_the_lock_answers_every_requirement_of_the_project():
    extras = PROJECT["optional-dependencies"]
    (everything,) = map(Requirement, extras["all"])
    wanted = [*PROJECT["dependencies"], *extras["dev"]]
    wanted += [x for name in everything.extras for x in extras[name]]
    for requirement in map(Requirement, wanted):
        if requirement.name == everything.name:
            continue
        versions = [
            str(locked.specifier).removeprefix("==")
            for locked in LOCKED
            if canonicalize_name(locked.name) == canonicalize_name(requirement.name)
        ]
        assert versions, requirement
        assert all(requirement.specifier.contains(version) for version in versions), requirement


def test_the_lock_of_the_docs_answers_its_extra_and_agrees_with_the_other():
    assert not re.search(r"https?:|--index|--extra-index|--find-links|file:|@", LOCK_OF_DOCS)
    blocks = BLOCK.findall(LOCK_OF_DOCS)
    assert all("--hash=sha256:" in x for x in blocks)
    found = {canonicalize_name(x.name): str(x.specifier) for x in map(requirement_of, blocks)}
    for requirement in map(Requirement, PROJECT["optional-dependencies"]["docs"]):
        assert requirement.specifier.contains(found[canonicalize_name(requirement.name)][2:])
    for locked in LOCKED:
        same = str(locked.specifier) == found.get(canonicalize_name(locked.name))
        assert same or canonicalize_name(locked.name) not in found or locked.marker, locked


def test_spark_delta_and_the_jars_are_one_release():
    extras = PROJECT["optional-dependencies"]
    wanted = [*PROJECT["dependencies"], *extras["embedded"], *extras["spark"]]
    pins = {Requirement(text).name: Requirement(text) for text in wanted}
    for name, wanted in LIBRARIES.items():
        assert set(str(pins[name].specifier).split(",")) == set(wanted.split(",")), name
    assert {f"=={jar.version}" for jar in DELTA_JARS} == {str(pins["delta-spark"].specifier)}
    tried = {"4.0.1": False, "4.0.5": True, "4.1.0": False, "4.1.4": True, "4.2.0": True}
    for spark, fits in {**tried, "4.2.1": False, "4.3.0": False}.items():
        assert pins["pyspark"].specifier.contains(spark) is fits
        assert bool(jars_for(spark)) is (spark != "4.3.0")


def test_make_alone_lists_what_can_be_made():
    done = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True)
    listed = {line.split()[1] for line in done.stdout.splitlines() if line.startswith("  make ")}
    assert listed >= {"help", "setup", "demo", "test", "bench", "lint", "doctor", "clean"}


def test_an_old_python_is_refused_in_one_sentence(tmp_path):
    for name in ("Makefile", "requirements.txt", "pyproject.toml"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    done = subprocess.run(
        ["make", "setup", "PYTHON=false"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "clwl needs Python 3.11 or newer" in done.stderr
    assert not (tmp_path / ".venv").exists()
