import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from clwl_spark.cli import main
from clwl_spark.errors import SettingsError, UsageError
from clwl_spark.settings import Settings, duration, moment, read_settings

ROOT = Path(__file__).parents[2]


def refusal(tmp_path, text, assignments=()):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(SettingsError) as caught:
        read_settings(path, assignments)
    return str(caught.value).replace(str(tmp_path), "")


def test_defaults_are_complete_and_each_is_explained():
    lines = (ROOT / "conf" / "default.toml").read_text().splitlines()
    assert read_settings().binding_ttl == timedelta(hours=24)
    for name in Settings.model_fields:
        (number,) = [n for n, x in enumerate(lines) if x.startswith((f"{name} =", f"[{name}]"))]
        assert lines[number - 1].startswith("#"), name


@pytest.mark.parametrize("name", ["local", "cluster"])
def test_the_other_files_are_usable(name):
    assert read_settings(ROOT / "conf" / f"{name}.toml").state_partitions != 8


def test_settings_cannot_be_changed():
    with pytest.raises(ValidationError):
        read_settings().lake = "elsewhere"


def test_the_file_overrides_then_assignments_then_options(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('poll = "1s"\nbinding_ttl = "1h"\nworker_memory_mib = 100\n')
    read = read_settings(
        path, ["binding_ttl=2h", "worker_memory_mib=200"], {"worker_memory_mib": "300", "log": None}
    )
    assert read.poll == timedelta(seconds=1)
    assert read.binding_ttl == timedelta(hours=2)
    assert read.worker_memory_mib == 300
    assert read.log == "auto"


def test_spark_settings_have_their_full_names_however_they_are_nested(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('[spark]\ndriver.memory = "2g"\n"spark.ui.enabled" = false\nsql.x.y = 3\n')
    assert read_settings(path, ["spark.sql.x.y=4"]).spark == {
        "spark.driver.memory": "2g",
        "spark.ui.enabled": "false",
        "spark.sql.x.y": "4",
    }


def test_a_lake_named_later_takes_the_place_of_a_catalog(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('catalog = "main.mq"')
    read = read_settings(path, options={"lake": "here"})
    assert (read.lake, read.catalog) == ("here", "")
    assert read_settings(path).catalog == "main.mq"


def test_an_unknown_setting_names_file_line_and_the_nearest(tmp_path):
    said = refusal(tmp_path, '\n# words\nbinding_tl = "1h"\n')
    assert said == "/mine.toml, line 3: unknown setting 'binding_tl': did you mean 'binding_ttl'?"
    assert "there are algorithm, allowed_modules, binding_ttl" in refusal(tmp_path, "zzzzz = 1")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("worker_memory_mib = 12", "line 1: worker_memory_mib is 12: input should be greater"),
        ('poll = "soon"', "poll is 'soon': 'soon' is no duration"),
        ('poll = "0s"', "poll is '0s': give more than 0"),
        ('algorithm = "v8"', "algorithm is 'v8': input should be '', 'v9' or 'v7'"),
        ('exit = "module"', "exit is 'module': give module:function"),
        ('catalog = "main"', "catalog is 'main': give CATALOG.SCHEMA"),
        ("spark = 3", "spark is 3"),
        ('lake = "a"\ncatalog = "b.c"', "both lake and catalog are set"),
        ("lake = ", "is not TOML"),
    ],
)
def test_an_unusable_value_is_refused_by_name(tmp_path, text, said):
    assert said in refusal(tmp_path, text)


@pytest.mark.parametrize("text", ["poll", "pol=3s", "worker_memory_mib=much"])
def test_an_unusable_assignment_names_itself(tmp_path, text):
    assert f"--set {text}: " in refusal(tmp_path, "", [text])


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SettingsError, match=r"none\.toml: No such file"):
        read_settings(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("text", "seconds"), [("500ms", 0.5), ("5s", 5), ("90m", 5400), ("1h30m", 5400), ("7d", 604800)]
)
def test_durations_are_numbers_with_units(text, seconds):
    assert duration(text).total_seconds() == seconds


@pytest.mark.parametrize("text", ["", "5", "h", "5 s", "-5s", "5sec", "1.5h", "9999999d"])
def test_other_texts_are_no_durations(text):
    with pytest.raises(UsageError, match="is no duration"):
        duration(text)


def test_a_moment_has_a_zone():
    expected = datetime(2026, 9, 14, 6, tzinfo=UTC)
    assert moment("2026-09-14T06:00:00Z") == expected
    assert moment("2026-09-14T08:00:00+02:00") == expected
    with pytest.raises(UsageError, match="no time zone: add Z"):
        moment("2026-09-14T06:00:00")
    with pytest.raises(UsageError, match="is no moment"):
        moment("monday")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = " + "[" * 20_000, "is not TOML: "),
        ("spark = {" + "a.b." * 300 + "c=1}", "too deep in one another"),
        ("# " + "x" * (1 << 20), "longer than 1,048,576 bytes"),
        ('exit = "os:system"', "exit is in module os, which the setting allowed_modules"),
        ('exit = "a.b:f"\nallowed_modules = ["a.c"]', "exit is in module a.b, which"),
        ("allowed_modules = 3", "allowed_modules is 3"),
    ],
)
def test_a_file_of_wrong_shape_and_a_module_that_is_not_allowed_are_refused(tmp_path, text, said):
    assert said in refusal(tmp_path, text)


@pytest.mark.parametrize("allowed", [["*"], ["a"], ["a.b"], ["x", "a"]])
def test_a_module_that_is_allowed_is_taken(tmp_path, allowed):
    path = tmp_path / "mine.toml"
    path.write_text(f'exit = "a.b:f"\nallowed_modules = {allowed}')
    assert read_settings(path).exit == "a.b:f"
    given = [f"allowed_modules={', '.join(allowed)}", "exit=a.b:g"]
    assert read_settings(assignments=given).exit == "a.b:g"


def test_a_file_that_never_ends_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        with pytest.raises(SettingsError, match=f"--config {path}: no file; give a TOML file"):
            read_settings(path)
        assert main(["share-queue", "--scenario", str(path)]) == 2
