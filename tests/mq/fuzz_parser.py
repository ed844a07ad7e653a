"""A coverage-guided fuzz of the parser; run by hand, not by pytest.

    pip install atheris
    python tests/mq/fuzz_parser.py --seconds 600 data/samples

Files of the folders are the start; libFuzzer changes them and keeps what reaches new code. Whatever
the bytes are, the parser must end within `SLOWEST_SECONDS`, and `reading_laws` must hold. What is
found becomes a case of `test_mq_bad_input.py`.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import atheris

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]
with atheris.instrument_imports(include=["clwl_spark.mq"]):
    from mq.reading_laws import check_reading

LONGEST = 20_000
SLOWEST_SECONDS = 20


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
        atheris.Setup([sys.argv[0], *limits, corpus], check_reading)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
