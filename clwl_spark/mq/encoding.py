"""Bytes of a file to text."""

import codecs

_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def decode(data: bytes) -> str:
    """Decode what MQ's tools write on any platform; never fails.

    UTF-16 needs its byte order mark; what is not UTF-8 is taken as Latin-1. Line ends become LF.

    Args:
        data: a whole file.

    Returns:
        Its text, without byte order mark and carriage returns.
    """
    if data.startswith(_UTF16_MARKS):
        text = data.decode("utf-16", errors="replace")
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")
