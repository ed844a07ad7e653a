"""Batches of a stream, and what is raised in them."""

import pytest
from pyspark.errors import StreamingQueryException

from clwl_spark.errors import LakeStateError, MissingLakeError, raised_within
from clwl_spark.routing.engines.batch import PlansMissingError
from clwl_spark.spark import streams
from clwl_spark.spark.streams import run_batches

CONNECT = """\
[STREAM_FAILED] Query terminated with exception: [PYTHON_EXCEPTION] Found error:
Traceback (most recent call last):
  File "clwl_spark/routing/engines/batch.py", line 9, in write
clwl_spark.errors.SplitError: a file is gone

During handling of the above exception, another exception occurred:
clwl_spark.routing.engines.batch.PlansMissingError: 3 plans are missing
 SQLSTATE: 38000

JVM stacktrace:
org.apache.spark.api.python.PythonException: Traceback (most recent call last):
clwl_spark.errors.SplitError: a file is"""


def test_the_error_that_was_raised_last_is_found_in_a_text():
    error = raised_within(CONNECT)
    assert type(error) is PlansMissingError
    assert str(error) == "3 plans are missing"


def test_an_error_that_has_more_to_tell_keeps_its_words():
    error = raised_within("x\nclwl_spark.errors.MissingLakeError: no table 'a'\ny")
    assert isinstance(error, MissingLakeError)
    assert (str(error), error.exit_code) == ("no table 'a'", 2)
    assert raised_within("java.lang.IllegalStateException: clwl_spark is not to blame") is None


@pytest.mark.spark
def test_batches_are_handed_out_once_and_raise_our_errors(spark, tmp_path):
    rows, seen = tmp_path / "rows", []
    spark.range(3).write.format("delta").save(str(rows))
    stream = spark.readStream.format("delta").load(str(rows))

    def refuse(_frame, batch_id):
        raise LakeStateError(f"batch {batch_id} is not wanted")

    def take(frame, batch_id):
        seen.append((batch_id, frame.count()))

    with pytest.raises(LakeStateError, match="batch 0 is not wanted"):
        run_batches(stream, refuse, str(tmp_path / "checkpoint"))
    told = [run_batches(stream, take, str(tmp_path / "checkpoint")) for _ in range(2)]
    assert seen == [(0, 3)]
    assert told[0]["numInputRows"] == 3
    assert told[0]["durationMs.addBatch"] > 0
    assert not [x for x in told[0] if x.startswith("stateOperators.")]
    assert told[1] == {}


def test_a_python_that_starts_too_slowly_is_started_again(monkeypatch):
    slow = StreamingQueryException("terminated with: Python worker failed to connect back.")
    said = [slow, slow, None]

    def once(*_words):
        if error := said.pop(0):
            raise error

    monkeypatch.setattr(streams, "_run_once", once)
    run_batches(None, print, "")
    assert said == []
    said += [StreamingQueryException("something else"), None]
    with pytest.raises(StreamingQueryException, match="something else"):
        run_batches(None, print, "")
