"""JSON documents of a text, and the items of their lists with the place that each has."""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from clwl_spark.mq.read.records import SHOWN_TEXT, Broken
from clwl_spark.mq.read.resources import RESOURCES

DECODER: Final = json.JSONDecoder()
_LISTS: Final = re.compile(rf'"(commandResponse|{"|".join(RESOURCES)})"\s*:\s*\[')
_BLANK: Final = re.compile(r"[\s,]*")
_START: Final = re.compile(r"^[{\[]", re.MULTILINE)


class Piece(NamedTuple):
    """One item of a list, where it begins, and the list's name ('' = none, a document)."""

    offset: int
    of: str
    item: object


class LineNumbers:
    """Line numbers of growing offsets; each part of the text is counted once."""

    def __init__(self, text: str) -> None:
        self.text, self.offset, self.line = text, 0, 1

    def at(self, offset: int) -> int:
        """Line number of an offset."""
        start, self.offset = self.offset, max(offset, self.offset)
        self.line += self.text.count("\n", start, self.offset)
        return self.line


def pieces_of(text: str) -> list[Piece]:
    """The items of all documents of a text, in order; a broken one is a `Broken`.

    Behind a broken one, documents begin at lines that begin with a parenthesis; each is decoded
    by itself, so that the time does not grow with what follows.
    """
    pieces, broken = _documents(text)
    if broken == len(text):
        return pieces
    starts = [broken, *(match.start() for match in _START.finditer(text, broken + 1)), len(text)]
    for start, stop in pairwise(starts):
        part = text[start:stop]
        found, at = _documents(part)
        if at < len(part):
            found += _salvaged(part, at)
        pieces += [piece._replace(offset=piece.offset + start) for piece in found]
    return pieces


def _documents(text: str) -> tuple[list[Piece], int]:
    """The items of the documents before one that is broken; where that begins, or the end."""
    pieces: list[Piece] = []
    at = _skip(text, 0)
    while at < len(text):
        try:
            document, end = DECODER.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError):
            return pieces, at
        pieces += document_items(text, at, end, document)
        at = _skip(text, end)
    return pieces, at


def _skip(text: str, at: int) -> int:
    """Where the next value begins."""
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at


def document_items(text: str, at: int, end: int, document: object) -> Iterator[Piece]:
    """The items of one whole document."""
    if isinstance(document, list):
        yield from _items(text, text.index("[", at) + 1, "")
        return
    found = _LISTS.search(text, at, end)
    if found and isinstance(document, dict) and isinstance(document.get(found[1]), list):
        yield from _items(text, found.end(), found[1])
    else:
        yield Piece(at, "", document)


def _items(text: str, at: int, of: str) -> Iterator[Piece]:
    """The items of a list, as far as they are whole; an array's may be answers themselves."""
    at = _skip(text, at)
    while at < len(text) and text[at] != "]":
        try:
            item, end = DECODER.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError):
            return
        if of or not isinstance(item, dict):
            yield Piece(at, of, item)
        else:
            yield from document_items(text, at, end, item)
        at = _skip(text, end)


def _salvaged(text: str, at: int) -> list[Piece]:
    """The whole items of a document that breaks off, and the break."""
    found = _LISTS.search(text, at)
    of = found[1] if found else ""
    pieces: list[Piece] = []
    if found:
        pieces = list(_items(text, found.end(), of))
    elif text[at] == "[":
        pieces = list(_items(text, at + 1, ""))
    place = pieces[-1].offset if pieces else at
    near = text[place:].split("\n", 1)[0][:SHOWN_TEXT]
    broken = Broken(0, near, "JSON that breaks off here or behind")
    return [*pieces, Piece(place, of, broken)]
