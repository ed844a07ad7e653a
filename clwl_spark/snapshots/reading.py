"""Files to what each of them says: a few here, many by Spark's workers side by side.

What comes of a file is small (`FileReading`), so that thousands of files need no memory here.
"""

import pickle
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from clwl_spark.errors import IngestError
from clwl_spark.logs import OnProgress
from clwl_spark.mq.read import FileReading, PassedOver, decode, read_states
from clwl_spark.mq.read.records import TextState
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.spark.materialize import checkpoint
from clwl_spark.spark.parallel import cores

"""Told (stage, done, total) as work goes on."""

STANDARD_INPUT: Final = "-"
QMGR: Final = "qmgr"
POSITION: Final = "position"
PAYLOAD: Final = "payload"
CHANNELS: Final = "channels"
ERROR: Final = "error"

FEW_FILES: Final = 64
FEW_BYTES: Final = 16 << 20
"""Up to here, starting workers takes about as long as reading: 6 MB a second, as measured."""

_REMEDY: Final = "give MQ's exports or their folder"
_NAMED: Final = 3
_PIECES: Final = (
    f"{QMGR} string, {POSITION} int, {PAYLOAD} binary, {CHANNELS} array<string>, {ERROR} string"
)
_INPUT_NAME: Final = "standard input"
_TOLD_EVERY: Final = 16
_ACTS: Final = (
    "it acts on a running queue manager, and no definition changes by it; table actions keeps it"
)
_TASKS_A_CORE: Final = 4


@dataclass(frozen=True, slots=True)
class Sources:
    """What is to be read.

    Attributes:
        files: the files, in the order that their texts apply in.
        named: as the user gave them, for the snapshot's row.
        observer: the queue manager of texts that name none; `{stem}` and `{folder}` stand for
            parts of the file's path.
        encoding: the texts' character set; None = seen by their bytes.
        text: standard input, where it is read; it comes last.
        passed: files that are not read, and why.
    """

    files: tuple[Path, ...]
    named: str
    observer: str | None = None
    encoding: str | None = None
    text: bytes | None = field(default=None, repr=False)
    passed: tuple[PassedOver, ...] = ()

    @property
    def count(self) -> int:
        """Files, standard input included."""
        return len(self.files) + (self.text is not None)

    @property
    def are_many(self) -> bool:
        """Whether workers read them."""
        if self.text is not None or len(self.files) < 2:  # noqa: PLR2004  (no two to share out)
            return False
        return len(self.files) > FEW_FILES or sum(map(_size, self.files)) > FEW_BYTES


def sources_of(
    paths: Sequence[Path], observer: str | None = None, encoding: str | None = None
) -> Sources:
    """The files of some paths, each once, those of a folder in order.

    Args:
        paths: files, folders that are read with their subfolders, less hidden files, and `-`.
            Pipes and devices are passed over, and links that lead out of the folder given.
        observer: as in `Sources`.
        encoding: as in `Sources`.

    Raises:
        IngestError: a path is not there, there are no files, or there is no such encoding.
    """
    decode(b"", encoding)
    folders = [path for path in paths if str(path) != STANDARD_INPUT]
    text = _standard_input() if len(folders) < len(paths) else None
    found, passed = _files_in(folders)
    if not found and text is None:
        places = ", ".join(map(str, paths))
        why = "; ".join(f"{x.file} is {x.why}" for x in passed[:_NAMED])
        raise IngestError(f"no files in {places}: {why or _REMEDY}")
    named = "; ".join(_INPUT_NAME if str(path) == STANDARD_INPUT else str(path) for path in paths)
    files = tuple(dict.fromkeys(found))
    return Sources(files, named, observer, encoding, text, tuple(dict.fromkeys(passed)))


def _files_in(paths: Iterable[Path]) -> tuple[list[Path], list[PassedOver]]:
    """The files of paths, and what is passed over of them.

    Raises:
        IngestError: a path is not there.
    """
    found: list[Path] = []
    passed: list[PassedOver] = []
    for path in paths:
        if not path.exists():
            raise IngestError(f"no such file or folder: {path}; {_REMEDY}")
        for file in _files_of(path):
            if why := _why_not(file, path):
                passed.append(PassedOver(str(file), why))
            else:
                found.append(file)
    return found, passed


def _standard_input() -> bytes:
    """All of standard input."""
    return sys.stdin.buffer.read()


def _size(path: Path) -> int:
    return path.stat().st_size


def _files_of(path: Path) -> list[Path]:
    """A file, or what is in a folder: not the folders in it, nor what is hidden."""
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.rglob("*") if not _is_hidden(file, path))


def _is_hidden(file: Path, folder: Path) -> bool:
    """Whether a file or a folder on the way to it is hidden, or it is a folder itself."""
    hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
    return hidden or (file.is_dir() and not file.is_symlink())


def _why_not(file: Path, given: Path) -> str:
    """Why a file is passed over; '' = it is read."""
    if file != given and file.is_symlink():
        try:
            inside = file.resolve(strict=True).is_relative_to(given.resolve())
        except (OSError, RuntimeError):
            return "a link to nothing"
        if not inside:
            return f"a link that leads out of {given}: give what it leads to by its own path"
        if file.is_dir():
            return "a link to a folder that is read anyway"
    return "" if file.is_file() else "a pipe or a device: pipe what it holds into `-`"


def read_here(sources: Sources, tell: OnProgress) -> list[FileReading]:
    """Read the files one after the other.

    Raises:
        IngestError: a file cannot be read, or is of no queue manager.
    """
    readings = []
    for done, path in enumerate(sources.files):
        if done % _TOLD_EVERY == 0:
            tell("reading", done, sources.count)
        readings.append(_read(_bytes(path), str(path), sources))
    if sources.text is not None:
        # It has no file name that an observer's pattern could be filled with.
        observer = None if "{" in (sources.observer or "") else sources.observer
        plain = replace(sources, observer=observer)
        readings.append(_read(sources.text, _INPUT_NAME, plain))
    tell("reading", sources.count, sources.count)
    for reading in readings:
        if reading.error:
            raise IngestError(reading.error)
    return readings


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise IngestError(f"{path} cannot be read: {error.strerror}") from error


def _read(data: bytes, source: str, sources: Sources) -> FileReading:
    return read_states(decode(data, sources.encoding), source, sources.observer)


def read_by_workers(spark: SparkSession, sources: Sources) -> DataFrame:
    """Read the files in parallel, once: the frame is kept on disk.

    Grain: one row per (queue manager, file) and one per file that is of none: qmgr (`''` = none),
    position (of the file), payload (`unpacked`), channels (names of its CLUSRCVRs), error.
    """
    plain = replace(sources, files=())

    def read_batches(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for batch in batches:
            for at, name, path in zip(batch[POSITION], batch["name"], batch["path"], strict=True):
                yield _pieces(_read_file(Path(path), name, plain), at)

    rows = [(at, str(path), str(path.absolute())) for at, path in enumerate(sources.files)]
    files = frame_from_rows(spark, rows, f"{POSITION} int, name string, path string")
    spread = files.repartition(min(len(rows), _TASKS_A_CORE * cores(spark)))
    return checkpoint(spread.mapInPandas(read_batches, _PIECES))


def _read_file(path: Path, name: str, sources: Sources) -> FileReading:
    try:
        return _read(_bytes(path), name, sources)
    except IngestError as error:
        return FileReading(name, (), (), str(error))


def _pieces(reading: FileReading, position: int) -> pd.DataFrame:
    """What a file says, by queue manager; what is of none goes with the first."""
    rows = []
    for state in reading.states:
        first = state is reading.states[0]
        own = replace(
            reading,
            states=(state,),
            rejects=reading.rejects if first else (),
            needless=reading.needless if first else {},
            actions=reading.actions if first else {},
        )
        rows.append((state.qmgr, position, pickle.dumps(own), receivers(state), ""))
    if not rows:
        rows.append(("", position, pickle.dumps(reading), [], reading.error))
    return pd.DataFrame(rows, columns=[QMGR, POSITION, PAYLOAD, CHANNELS, ERROR])


def unpacked(payloads: Sequence[bytes]) -> list[FileReading]:
    """What files say, as `read_by_workers` packed it."""
    return [pickle.loads(payload) for payload in payloads]  # noqa: S301  (packed by `_pieces`)


def passed_over(readings: Iterable[FileReading]) -> list[PassedOver]:
    """The files that hold nothing but what gives no row, and commands that are not carried out."""
    found: list[PassedOver] = []
    for reading in readings:
        if reading.needless:
            why = f"it says nothing of a cluster; it holds {_counted(reading.needless)}"
            found.append(PassedOver(reading.source, why))
        found += [
            PassedOver(reading.source, _ACTS, line, text) for text, line in reading.actions.items()
        ]
    return found


def _counted(held: Mapping[str, int]) -> str:
    return ", ".join(f"{count} x {kind}" for kind, count in held.items())


def receivers(state: TextState) -> list[str]:
    """Names of the CLUSRCVRs that a text defines."""
    found = state.objects.values()
    return [x.name for x in found if (x.kind, x.subtype) == ("channel", "CLUSRCVR")]


def refuse_errors(pieces: DataFrame) -> None:
    """Refuse files that are of no queue manager.

    Raises:
        IngestError: that of the first such file.
    """
    bad = pieces.where(F.col(ERROR) != "").orderBy(POSITION).select(ERROR).first()
    if bad is not None:
        raise IngestError(bad[0])


def owners_of(pieces: DataFrame) -> Mapping[str, set[str]]:
    """Channel -> queue managers that define a CLUSRCVR of this name."""
    owners: dict[str, set[str]] = {}
    found = pieces.select(F.explode(CHANNELS).alias("channel"), QMGR).distinct()
    for channel, qmgr in found.collect():
        owners.setdefault(channel, set()).add(qmgr)
    return owners
