"""Standard error under spark-submit, which mixes its program's standard error into the output."""

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr

from pyspark import SparkContext


class _JavaStandardError(io.TextIOBase):
    """Standard error of the Java process that started this one."""

    def write(self, text: str, /) -> int:
        SparkContext._jvm.java.lang.System.err.print(text)  # type: ignore[union-attr]  # noqa: SLF001
        return len(text)

    def flush(self) -> None:
        SparkContext._jvm.java.lang.System.err.flush()  # type: ignore[union-attr]  # noqa: SLF001


@contextmanager
def apart_from_output() -> Iterator[None]:
    """Send what the block writes to standard error to Java's, so that `--json` stays pure."""
    SparkContext._ensure_initialized()  # noqa: SLF001
    sys.stderr.flush()
    with redirect_stderr(_JavaStandardError()):
        yield
