"""A coverage-guided fuzz of the parser; run by hand, not by pytest.

    pip install atheris
    python tests/mq/fuzz_parser.py --seconds 600 data/samples

Texts of the folders are the start; libFuzzer changes them and keeps what reaches new code. Whatever
the bytes are, the parser must end soon, raise nothing, read the same twice, and say something of
any text that has a word in it. What is found becomes a case of `test_mq_bad_input.py`.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["clwl_spark.mq"]):
    from clwl_spark.errors import InputError
    from clwl_spark.mq.encoding import decode
    from clwl_spark.mq.read import read_texts

LONGEST = 20_000
SLOWEST_SECONDS = 20


def read(data: bytes) -> None:
    """Read the bytes as a file of a queue manager and check what must hold for any."""
    try:
        text = decode(data)
    except InputError:
        return
    sources = [("folder/QM1.mqsc", text)]
    first = read_texts(sources, "QM1")
    assert first == read_texts(sources, "QM1")


def main() -> None:
    """Fuzz for as long as is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, help="texts to start from")
    parser.add_argument("--seconds", type=int, default=600)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as corpus:
        files = [file for folder in options.folders for file in folder.rglob("*") if file.is_file()]
        for number, file in enumerate(files):
            (Path(corpus) / f"{number:05d}").write_bytes(file.read_bytes()[:LONGEST])
        limits = (
            f"-max_total_time={options.seconds}",
            f"-max_len={LONGEST}",
            f"-timeout={SLOWEST_SECONDS}",
        )
        atheris.Setup([sys.argv[0], *limits, corpus], read)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
