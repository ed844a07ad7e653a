"""A coverage-guided fuzz of what reads files: `make fuzz`; not run by pytest.

    python tests/support/fuzz.py load --seconds 600 ../traffic
    python tests/support/fuzz.py ingest --seconds 600 data/samples

The tests' own samples and the files of the folders are the start; libFuzzer changes them and keeps
what reaches new code. Whatever the bytes are, reading them ends within `SLOWEST_SECONDS`, and
`loading_laws` or `reading_laws` hold. What is found becomes a case of `test_any_file.py` or
`test_mq_bad_input.py`.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import atheris

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1])]
with atheris.instrument_imports(include=["clwl_spark.mq", "clwl_spark.studies.load"]):
    from loading.loading_laws import check_loading
    from loading.reader_samples import SAMPLES
    from mq.reading_laws import check_reading

LAWS = {"load": check_loading, "ingest": check_reading}
LONGEST = 20_000
SLOWEST_SECONDS = 20


def main() -> None:
    """Fuzz for as long as is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=LAWS)
    parser.add_argument("folders", nargs="*", type=Path, help="files to start from")
    parser.add_argument("--seconds", type=int, default=600)
    options = parser.parse_intermixed_args()
    with tempfile.TemporaryDirectory() as corpus:
        files = [file for folder in options.folders for file in folder.rglob("*") if file.is_file()]
        starts = [*(x.read_bytes() for x in files), *SAMPLES.values()]
        for number, data in enumerate(starts):
            (Path(corpus) / f"{number:05d}").write_bytes(data[:LONGEST])
        limits = (
            f"-max_total_time={options.seconds}",
            f"-max_len={LONGEST}",
            f"-timeout={SLOWEST_SECONDS}",
        )
        atheris.Setup([sys.argv[0], *limits, corpus], LAWS[options.what])
        atheris.Fuzz()


if __name__ == "__main__":
    main()
