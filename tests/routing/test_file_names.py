"""Files by the hash of the name that Spark gives them: whatever the place is called."""

from pathlib import Path

import pyarrow as pa
import pytest

from clwl_spark.errors import SplitError
from clwl_spark.routing.intake.splits import Split, found_splits, spark_hash

SAID = [
    ("plain.parquet", "plain.parquet"),
    ("a b.parquet", "a%20b.parquet"),
    ("it's.parquet", "it's.parquet"),
    ('"quoted".parquet', "%22quoted%22.parquet"),
    ("100%.parquet", "100%25.parquet"),
    ("a%20b.parquet", "a%2520b.parquet"),
    ("#1?.parquet", "%231%3F.parquet"),
    ("[x]{y}.parquet", "%5Bx%5D%7By%7D.parquet"),
    ("^|`<>\\.parquet", "%5E%7C%60%3C%3E%5C.parquet"),
    ("a+b@c&d=e;f,g:h$i!j~k(l)*.parquet", "a+b@c&d=e;f,g:h$i!j~k(l)*.parquet"),
    ("ü€𝄞.parquet", "ü€𝄞.parquet"),
    ("u\u0308.parquet", "u\u0308.parquet"),
    ("\u00a0\u2003\u3000\u0085.parquet", "%C2%A0%E2%80%83%E3%80%80%C2%85.parquet"),
]
"""Names, and what the path of a Java URI makes of them."""


def met(folder: Path, said: list[str]) -> list[Split]:
    """The splits of files that Spark calls so."""
    files = [spark_hash([x]) for x in said]
    rows = pa.record_batch({"file": files, "start": [4] * len(said), "rows": [7] * len(said)})
    return found_splits([rows], str(folder))


@pytest.mark.parametrize("scheme", ["file:", "file://"])
@pytest.mark.parametrize(("name", "said"), SAID)
def test_a_file_is_found_by_what_java_calls_it(
    tmp_path: Path, name: str, said: str, scheme: str
) -> None:
    for other, _ in SAID:
        (tmp_path / other).touch()
    (split,) = met(tmp_path, [f"{scheme}{tmp_path}/{said}"])
    assert split == Split(str(tmp_path / name), 4, 7)
    assert Split.named(split.name) == split


@pytest.mark.parametrize(("name", "said"), SAID)
def test_so_is_one_in_a_folder_of_such_a_name(tmp_path: Path, name: str, said: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "part.parquet").touch()
    (split,) = met(folder, [f"file://{tmp_path}/{said}/part.parquet"])
    assert split.path == str(folder / "part.parquet")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a b.parquet").touch()
    with pytest.raises(SplitError, match="1 files of the batch are not in"):
        met(tmp_path, [f"file://{tmp_path}/a%2520b.parquet"])
