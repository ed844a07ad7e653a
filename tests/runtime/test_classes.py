import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from clwl_spark.errors import SetupError
from clwl_spark.runtime import cache_folder, classes
from clwl_spark.runtime.classes import class_archive, make_class_archive, sharing_options
from clwl_spark.runtime.jars import delta_jars
from clwl_spark.runtime.java import java_home

pytestmark = pytest.mark.java


CACHE = cache_folder(os.environ)


@pytest.fixture(scope="module")
def java():
    return java_home(CACHE, os.environ)


@pytest.fixture(scope="module")
def jars(java):
    return delta_jars(CACHE, java, os.environ)


START = """
from clwl_spark.spark.local import local_session
local_session({"spark.driver.extraJavaOptions": "-Xlog:class+load:file=LOADED"}).stop()
"""


def test_spark_starts_with_the_classes_that_setup_archived(tmp_path, java, jars):
    if not class_archive(CACHE, java, jars).is_file():
        pytest.skip("there is none: `python -m clwl_spark.runtime --classes` makes it")
    program = START.replace("LOADED", str(tmp_path / "loaded"))
    subprocess.run([sys.executable, "-c", program], check=True)
    loaded = (tmp_path / "loaded").read_text().splitlines()
    archived = [line for line in loaded if line.endswith("shared objects file")]
    assert len(archived) > 0.8 * len(loaded)


def test_an_archive_that_does_not_fit_is_passed_over_without_a_word(tmp_path, java):
    archive = tmp_path / "with blank.jsa"
    assert sharing_options(archive) == ""
    archive.write_bytes(b"no archive" * 1000)
    command = [str(java.executable), *shlex.split(sharing_options(archive)), "-version"]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (said.returncode, said.stdout) == (0, "")


def test_another_java_or_other_jars_have_another_archive(java, jars):
    one = class_archive(CACHE, java, jars)
    assert class_archive(CACHE, java, jars) == one
    assert class_archive(CACHE, java, (Path("/other.jar"),)) != one


def test_a_step_that_fails_leaves_no_archive_and_says_which(tmp_path, java):
    archive = tmp_path / "classes" / "a.jsa"
    with pytest.raises(SetupError, match=r"clwl_spark\.cli generate"):
        make_class_archive(archive, java, {**os.environ, "CLWL_JAVA_HOME": "/nowhere"})
    assert list(archive.parent.iterdir()) == []


def test_few_archives_are_kept(tmp_path):
    files = [tmp_path / f"{at}.jsa" for at in range(classes.KEPT + 3)]
    for at, file in enumerate(files):
        file.touch()
        os.utime(file, (at, at))
    classes._forget(files[0])
    assert set(tmp_path.iterdir()) == {files[0], *files[3:]}
