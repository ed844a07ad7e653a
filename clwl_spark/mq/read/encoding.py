"""Bytes of a file to text."""

import codecs
import re
from typing import Final

from clwl_spark.errors import IngestError

_UTF16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SAMPLE: Final = 400
_MOSTLY: Final = 0.4
_RECORD_LENGTHS: Final = (80, 121, 133)
"""Record lengths of a z/OS data set copied without line ends: source members, listings."""

_OPEN_SYSTEMS: Final = str.maketrans("\u00dd\u00a8[]\u00ac^", "[]\u00dd\u00a8^\u00ac")
"""What code page 1047 (z/OS UNIX) has where Python's 037 has something else."""

_CONTROLS: Final = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def decode(data: bytes, encoding: str | None = None) -> str:
    """Decode what MQ's tools write on any platform; bytes that mean nothing become marks.

    Without an encoding: a byte order mark counts, else UTF-16 is known by its zero bytes, and
    what is not UTF-8 is taken as Latin-1. EBCDIC has to be named. Line ends become LF; records
    of a data set without line ends become lines.

    Args:
        data: a whole file.
        encoding: any of Python's, or `ebcdic`, `ibm-037`, `cp1047` and the like.

    Returns:
        Its text, without byte order mark and carriage returns.

    Raises:
        IngestError: there is no such encoding.
    """
    text = _named(data, encoding) if encoding else _guessed(data)
    return text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")


def is_binary(text: str) -> bool:
    """True where a decoded file is no text: many control characters, or EBCDIC not named as such.

    A blank of EBCDIC is an @ elsewhere.
    """
    sample = text[:_SAMPLE]
    if len(_CONTROLS.findall(sample)) > len(sample) / 20:
        return True
    return " " not in sample and sample.count("@") > len(sample) / 20


def _guessed(data: bytes) -> str:
    """Decode by what the bytes look like."""
    if data.startswith(_UTF16_MARKS):
        return data.decode("utf-16", errors="replace")
    even, odd = data[:_SAMPLE:2], data[1:_SAMPLE:2]
    if odd.count(0) > _MOSTLY * len(odd) and even.count(0) == 0:
        return data.decode("utf-16-le", errors="replace")
    if even.count(0) > _MOSTLY * len(even) and odd.count(0) == 0:
        return data.decode("utf-16-be", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _named(data: bytes, encoding: str) -> str:
    """Decode by an encoding's name; EBCDIC has its own line ends, or none."""
    name = encoding.lower().replace("_", "-")
    page = re.sub(r"^(?:ibm|cp)-?(?=\d)", "cp", name)
    page = {"ebcdic": "cp037", "cp37": "cp037", "cp1047": "cp037"}.get(page, page)
    try:
        codec = codecs.lookup(page)
        text = data.decode(codec.name, errors="replace")
    except (LookupError, UnicodeError) as error:
        reason = f"no encoding '{encoding}': name one of Python's, or ebcdic, cp037, cp1047, cp500"
        raise IngestError(reason) from error
    if codec.encode("A")[0] != b"\xc1":
        return text
    if name.endswith("1047"):
        text = text.translate(_OPEN_SYSTEMS)
    text = text.replace("\r\x85", "\n").replace("\x85", "\n")
    return text if "\n" in text else _records(text)


def _records(text: str) -> str:
    """Cut a data set without line ends into its records."""
    length = next((size for size in _RECORD_LENGTHS if text and len(text) % size == 0), 0)
    if not length:
        return text
    return "\n".join(text[at : at + length].rstrip() for at in range(0, len(text), length))
