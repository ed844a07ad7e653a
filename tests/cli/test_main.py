import inspect
import os
import re
import signal
import subprocess
import sys
from dataclasses import fields
from importlib import metadata
from importlib.util import find_spec
from types import SimpleNamespace

import pytest

from clwl_spark import cli
from clwl_spark.cli import doctor, options
from clwl_spark.cli.commands.generate import GenerateWords
from clwl_spark.cli.entry import PANELS
from clwl_spark.cli.generate import generate_spec
from clwl_spark.errors import GateError
from clwl_spark.studies.synthetic import GenerateSpec

COMMANDS = [command.name for command in cli.app.registered_commands]
LATER = "2026-09-15T00:00:00Z"
EXPLAIN = ["explain", "--from", "QM1", "--object", "Q"]


def complaint(capsys, words, exit_code=2):
    assert cli.main(words) == exit_code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("clwl: ")
    assert shown.err.count("\n") == 1
    return shown.err


def end_with(monkeypatch, error):
    def run(_common):
        raise error

    monkeypatch.setattr(doctor, "run", run)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_and_the_options_of_all_commands(capsys, command):
    assert cli.main([command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"clwl {command} " in shown
    assert "Examples" in shown
    for option in ("--lake", "--catalog", "--config", "--set", "--json", "--quiet", "--verbose"):
        assert option in shown


@pytest.mark.parametrize("words", [[], *([command] for command in COMMANDS)])
def test_help_shows_placeholders_and_no_types_of_python(capsys, words):
    assert cli.main([*words, "--help"]) == 0
    options = [x for x in capsys.readouterr().out.splitlines() if " --" in x]
    assert [x for x in options if re.search(r"<\w+", x)] == []


def test_help_shows_every_command_in_its_panel(capsys):
    assert cli.main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"─ {panel} ─" in shown for panel in PANELS)
    assert "─ Commands ─" not in shown


def test_help_starts_nothing_heavy():
    program = (
        "import sys; from clwl_spark.cli import main; main(['--help']);"
        "sys.exit(' '.join({'pyspark', 'pandas', 'numba', 'structlog'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stderr.strip() == ""
    assert "demo" in done.stdout


def test_version_is_the_packages(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"clwl {metadata.version('clwl-spark')}\n"


def test_no_command_shows_the_help_and_is_wrong_usage(capsys):
    assert cli.main([]) == 2
    assert "demo" in capsys.readouterr().out


def test_an_unknown_command_is_answered_with_the_nearest(capsys):
    said = complaint(capsys, ["valdate", "--lake", "x"])
    assert said == "clwl: No such command 'valdate'. Did you mean 'validate'? (see `clwl --help`)\n"


def test_unknown_options_and_missing_ones_point_to_the_commands_help(capsys):
    assert "(see `clwl route --help`)" in complaint(capsys, ["route", "--lak", "x"])
    assert "Missing option '--from'" in complaint(capsys, ["explain", "--lake", "x"])
    assert "'v8' is not one of" in complaint(capsys, ["route", "--algorithm", "v8"])


def test_a_lake_has_to_be_named_once(capsys):
    assert "where is the lake? give --lake DIR" in complaint(capsys, ["route"])
    both = ["route", "--lake", "x", "--catalog", "a.b"]
    assert "leave one out" in complaint(capsys, both)


def test_settings_are_checked_before_anything_else(capsys, tmp_path):
    config = tmp_path / "mine.toml"
    config.write_text("\npol = 3\n")
    words = ["route", "--lake", str(tmp_path), "--config", str(config)]
    assert f"{config}, line 2: unknown setting 'pol': did you mean 'poll'?" in complaint(
        capsys, words
    )
    assert "--binding-ttl: binding_ttl is '24'" in complaint(
        capsys, ["route", "--lake", "x", "--binding-ttl", "24"]
    )


@pytest.mark.parametrize("words", [["route"], EXPLAIN])
def test_a_lake_that_is_not_there_is_bad_input(capsys, monkeypatch, tmp_path, words):
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    said = complaint(capsys, [*words, "--lake", str(tmp_path / "none"), "--json"])
    assert f"in lake {tmp_path / 'none'}: check --lake" in said


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["explain", "--from", "", "--object", "Q"], "'--from': it is blank"),
        (["explain", "--from", "QM1", "--object", " "], "'--object': it is blank"),
        (["ingest", "no.mqsc", "--snapshot", ""], "'--snapshot': it is blank"),
        (["load"], "give PATH"),
        (["load", "x.csv", "--since", LATER, "--until", LATER], "--until is not after --since"),
        (["advise", *EXPLAIN[1:], "--want", "A=1", "--object-qmgr", "C"], "with --add-host"),
    ],
)
def test_what_cannot_be_meant_is_wrong_usage(capsys, tmp_path, words, sentence):
    assert sentence in complaint(capsys, [*words, "--lake", str(tmp_path / "lake")])


def test_a_lake_that_cannot_be_written_is_told(capsys, tmp_path):
    file, script = tmp_path / "file", tmp_path / "a.mqsc"
    file.touch()
    script.write_text("* Queue manager name: QM1\nDEFINE QLOCAL(Q)\n")
    for lake in (file, file / "lake"):
        for words in (["init"], ["ingest", str(script), "--snapshot", "S1"]):
            assert cli.main([*words, "--lake", str(lake)]) == 2
            assert f"lake {lake} cannot be written" in capsys.readouterr().err


def test_what_nobody_reads_is_no_verdict():
    words = [sys.executable, "-m", "clwl_spark", "--help"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.close()
        said = running.stderr.read()
    assert running.returncode == 141
    assert b"Traceback" not in said


def test_moments_need_a_zone(capsys):
    words = ["ingest", "x", "--lake", "x", "--snapshot", "s", "--valid-from"]
    said = complaint(capsys, [*words, "2026-09-14T06:00:00"])
    assert "--valid-from '2026-09-14T06:00:00' has no time zone: add Z for UTC" in said
    assert "is no moment" in complaint(capsys, [*words, "now"])
    assert "--start 'today' is no moment" in complaint(
        capsys, ["generate", "--lake", "x", "--start", "today"]
    )


def test_generating_what_cannot_be_is_wrong_usage(capsys):
    said = complaint(capsys, ["generate", "--lake", "x", "--instances", "99"])
    assert "generate: instances is 99" in said


def test_the_options_of_generate_are_those_of_its_spec():
    assert [x.name for x in fields(GenerateWords)] == [x.name for x in fields(GenerateSpec)]
    assert generate_spec(GenerateWords()) == GenerateSpec()


def test_errors_end_with_their_own_code(capsys, monkeypatch):
    end_with(monkeypatch, GateError("snapshot S1: 3 rows without a queue"))
    said = complaint(capsys, ["doctor"], exit_code=1)
    assert said == "clwl: snapshot S1: 3 rows without a queue\n"


def test_an_unexpected_error_is_a_sentence_and_with_verbose_a_traceback(capsys, monkeypatch):
    end_with(monkeypatch, RuntimeError("first\nsecond"))
    said = complaint(capsys, ["doctor"], exit_code=3)
    assert said == "clwl: RuntimeError: first; run with --verbose for more\n"
    assert cli.main(["doctor", "--verbose"]) == 3
    assert "Traceback (most recent call last)" in capsys.readouterr().err


@pytest.mark.fault(26)
def test_ctrl_c_and_sigterm_end_with_the_shells_codes(monkeypatch):
    end_with(monkeypatch, KeyboardInterrupt())
    assert cli.main(["doctor"]) == 130

    def run(_common):
        os.kill(os.getpid(), signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(doctor, "run", run)
    assert cli.main(["doctor"]) == 143
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize("command", [x for commands in PANELS.values() for x in commands])
def test_a_command_runs_the_module_of_its_name(command, monkeypatch):
    called = []

    def loaded(name):
        assert find_spec(name) is not None
        called.append(name.rpartition(".")[2])
        return SimpleNamespace(run=lambda *_: 0)

    monkeypatch.setattr(options, "import_module", loaded)
    assert command(*[None] * len(inspect.signature(command).parameters)) == 0
    assert called == [command.__name__]
