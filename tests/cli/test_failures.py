import errno
import os
from pathlib import Path

import pytest
from deltalake.exceptions import DeltaError
from py4j.protocol import Py4JJavaError, Py4JNetworkError
from pyspark.errors import AnalysisException, PySparkException, StreamingQueryException

from clwl_spark.cli import main
from clwl_spark.cli.failures import failure
from clwl_spark.cli.written import write_whole
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import (
    MAKERS,
    CannotWriteError,
    InputError,
    LakeStateError,
    SetupError,
    UsageError,
)
from clwl_spark.snapshots.semantics import semantics_in
from clwl_spark.tables import SNAPSHOTS, TABLES


def test_our_own_errors_keep_their_words():
    assert failure(InputError("words")) == ("words", 2)
    assert failure(SetupError("words")) == ("words", 3)


def test_tables_and_the_commands_that_make_them_are_those_that_there_are(capsys):
    assert MAKERS.keys() <= TABLES.keys()
    for command in {x.split()[0] for makers in MAKERS.values() for x in makers}:
        assert main([command, "--help"]) == 0
        assert f"clwl {command}" in capsys.readouterr().out


def test_our_own_error_is_found_in_what_a_worker_or_java_made_of_it():
    text = (
        "[STREAM_FAILED] Query terminated: An exception was raised by the Python Proxy.\n"
        "Traceback (most recent call last):\n  File ...\n"
        "clwl_spark.errors.ExitFunctionError: the exit returned 3: return a list\n\n"
    )
    assert failure(StreamingQueryException(text)) == ("the exit returned 3: return a list", 2)


@pytest.mark.parametrize(
    ("text", "sentence", "exit_code"),
    [
        (
            "[DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT] a file was added. SQLSTATE: 2D521",
            "a file was added: somebody else wrote to the table meanwhile; run the command again",
            3,
        ),
        (
            (
                "[STREAM_FAILED] it failed\norg.apache.spark.SparkException: [DELTA_NOT_NULL_"
                "CONSTRAINT_VIOLATED] NOT NULL constraint violated for column: qmgr."
            ),
            "for column: qmgr: a key column is null; fill it",
            2,
        ),
        (
            "[DELTA_UNSUPPORTED_FEATURES_FOR_READ] Unsupported Delta read feature: x",
            "read feature: x: a newer program wrote the table; use a version that knows",
            2,
        ),
        ("[INTERNAL_ERROR] The plan\nhas two lines", "[INTERNAL_ERROR] The plan; run with", 3),
    ],
)
def test_sparks_errors_are_one_line_with_advice(text, sentence, exit_code):
    said, code = failure(AnalysisException(text))
    assert sentence in said
    assert "\n" not in said
    assert "SQLSTATE" not in said
    assert code == exit_code


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(28, "No space left on device"), "make room, and run the command again"),
        (DeltaError("Unable to copy: No space left on device (os error 28)"), "make room"),
        (
            PermissionError(13, "Permission denied", "lake/runs"),
            "let this user read and write there",
        ),
    ],
)
def test_a_disk_that_takes_nothing_is_told_with_what_to_do(error, sentence):
    said, code = failure(error)
    assert sentence in said
    assert "--verbose" not in said
    assert code == 3


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    file = tmp_path / "new" / "page.html"
    write_whole(file, "old", "--html")

    def half(path, text, encoding):
        path.write_bytes(text[:1].encode(encoding))
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", half)
        with pytest.raises(CannotWriteError, match=r"^--html .*page\.html: .*make room"):
            write_whole(file, "new", "--html")
    assert [x.read_text() for x in file.parent.iterdir()] == ["old"]
    with pytest.raises(UsageError, match="give another file"):
        write_whole(file / "below a file", "new", "--html")


def test_what_cannot_be_written_or_read_leaves_no_folder(tmp_path, capsys):
    words = ["report", "--lake", str(tmp_path / "nowhere"), "--out"]
    assert main([*words, str(tmp_path / "new" / "report")]) == 2
    (tmp_path / "file").touch()
    assert main([*words, str(tmp_path / "file" / "report")]) == 2
    assert "is a file; give a folder to write to" in capsys.readouterr().err
    assert [x.name for x in tmp_path.iterdir()] == ["file"]


def test_a_lake_of_a_newer_version_is_told():
    row = {"algorithm": "v9", "edition": 2, "null_open_id": None}
    assert semantics_in(row).edition == 2
    for newer in ({"edition": 3}, {"algorithm": "v10"}):
        with pytest.raises(LakeStateError, match="use that version"):
            semantics_in(row | newer)


def test_a_failed_worker_is_told_by_the_last_line_of_its_traceback():
    text = "Job aborted\nTraceback (most recent call last):\n  File x\nZeroDivisionError: by zero\n"
    said, code = failure(PySparkException(text))
    assert said.startswith("a Python worker failed: ZeroDivisionError: by zero")
    assert code == 3


def test_a_call_that_broke_off_says_how():
    text = (
        "<_InactiveRpcError of RPC that terminated with:\n\tstatus = StatusCode.INTERNAL\n"
        '\tdetails = "lock poisoned"\n\tdebug_error_string = "{grpc_status:13}"\n>'
    )
    assert failure(PySparkException(text))[0].startswith("INTERNAL: lock poisoned; ")
    assert failure(PySparkException(text.replace("lock poisoned", "")))[0].startswith("INTERNAL; ")


def test_executors_that_lack_a_library_have_a_remedy():
    text = "Job aborted\nTraceback:\n  File x\nModuleNotFoundError: No module named 'pyarrow'\n"
    said, code = failure(PySparkException(text))
    assert said.startswith("ModuleNotFoundError: No module named 'pyarrow': ")
    assert "PYSPARK_PYTHON" in said
    assert code == 3


def test_java_that_is_gone_and_a_library_that_is_missing_have_a_remedy():
    assert "Java process ended" in failure(Py4JNetworkError("gone"))[0]
    assert "clwl doctor" in failure(ImportError("No module named 'numba'"))[0]
    lacking = ImportError("No module named 'altair'", name="altair.utils")
    assert failure(lacking)[0].endswith("not installed: pip install 'clwl-spark[report]'")


def test_a_row_that_a_constraint_refuses_is_bad_input(spark, tmp_path):
    lake = Lake(spark, str(tmp_path))
    lake.create([SNAPSHOTS])
    row = ("S1", None, "PERHAPS", *[None] * (len(SNAPSHOTS.names) - 3))
    with pytest.raises((PySparkException, Py4JJavaError, InputError)) as caught:
        lake.append("snapshots", spark.createDataFrame([row], SNAPSHOTS.schema))
    said, code = failure(caught.value)
    assert "status" in said
    assert "a row breaks a rule of the table" in said
    assert said.endswith("; correct it")
    assert code == 2
