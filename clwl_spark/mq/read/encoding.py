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

_PACKED: Final = {"\x1f\x8b": "gzip", "PK\x03\x04": "ZIP", "BZh": "bzip2", "\xfd7zXZ": "xz"}
"""What a file begins with that holds others."""

_CONTROLS: Final = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")

_EBCDIC_SAMPLE: Final = 64 << 10
_EBCDIC_LEAST: Final = 16
_OTHERS: Final = 0.02
_BRACKETS: Final = {"cp1047": b"\xad\xbd", "cp037": b"\xba\xbb", "cp500": b"\x4a\x5a"}
"""Code page -> its square brackets; letters, digits, braces and most signs are the same in all."""
_ASCII: Final = bytes(range(128))
_EBCDIC: Final = bytes(
    {
        *"".join(map(chr, range(0x20, 0x7F))).encode("cp037"),
        *(byte for pair in _BRACKETS.values() for byte in pair),
        *b"\x05\x0d\x15\x25",
    }
)
"""The bytes that texts of EBCDIC are made of, in any of these code pages."""


def decode(data: bytes, encoding: str | None = None) -> str:
    """Decode what MQ's tools write on any platform; bytes that mean nothing become marks.

    Without an encoding: a byte order mark counts, else UTF-16 is known by its zero bytes, and
    what is neither UTF-8 nor EBCDIC (`ebcdic_page`) is taken as Latin-1. Line ends become LF;
    records of a data set without line ends become lines.

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


def ebcdic_page(data: bytes) -> str | None:
    """The code page of EBCDIC that a text is of; None = of none.

    Its letters and digits are bytes that no text of ASCII has, and its blanks and line ends are
    none of ASCII's. Square brackets tell the pages of z/OS apart; where there are none, it is 1047.

    Args:
        data: a file, or its beginning.
    """
    sample = data[:_EBCDIC_SAMPLE]
    if len(sample) < _EBCDIC_LEAST or len(sample.translate(None, _ASCII)) < len(sample) / 3:
        return None
    if len(sample.translate(None, _EBCDIC)) > len(sample) * _OTHERS or _is_utf_8(sample):
        return None
    return max(_BRACKETS, key=lambda page: min(map(sample.count, _BRACKETS[page])))


def _is_utf_8(sample: bytes) -> bool:
    """Whether bytes are UTF-8, but for a character that is cut at their end."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    return True


def is_binary(text: str) -> bool:
    """True where a decoded file is no text: many control characters, or EBCDIC not named as such.

    A blank of EBCDIC is an @ elsewhere.
    """
    sample = text[:_SAMPLE]
    if len(_CONTROLS.findall(sample)) > len(sample) / 20:
        return True
    return " " not in sample and sample.count("@") > len(sample) / 20


def packed(text: str) -> str:
    """What packed a file that is no text, decoded as Latin-1; '' = nothing that is known."""
    return next((by for mark, by in _PACKED.items() if text.startswith(mark)), "")


def unmarked(data: bytes) -> str | None:
    """UTF-16 or EBCDIC without a mark that says so; None = a file is of neither.

    Args:
        data: a file, or its beginning.
    """
    even, odd = data[:_SAMPLE:2], data[1:_SAMPLE:2]
    if odd.count(0) > _MOSTLY * len(odd) and even.count(0) == 0:
        return "utf-16-le"
    if even.count(0) > _MOSTLY * len(even) and odd.count(0) == 0:
        return "utf-16-be"
    return ebcdic_page(data)


def _guessed(data: bytes) -> str:
    """Decode by what the bytes look like."""
    if data.startswith(_UTF16_MARKS):
        return data.decode("utf-16", errors="replace")
    encoding = unmarked(data)
    if encoding:
        return _named(data, encoding)
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
