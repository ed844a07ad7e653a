"""YAML whose values remember where they are written, to the column.

All scalars are texts: a name like `2085` or `off` means itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import yaml
from yaml.reader import ReaderError

Place = tuple[str | int, ...]
"""The way to a value: keys and positions, from the top."""

_DEPTH = 3
"""Files of facts have no values further down; aliases there may be of any number of values."""


class Spot(NamedTuple):
    """Line and column in a file, from 1."""

    line: int
    column: int


class Problem(NamedTuple):
    """What is wrong, and where; `str` is `file:line:column: what`."""

    file: str
    spot: Spot
    said: str

    def __str__(self) -> str:
        return f"{self.file}:{self.spot.line}:{self.spot.column}: {self.said}"


@dataclass(frozen=True, slots=True)
class Written:
    """A YAML file.

    Attributes:
        name: of the file.
        text: its text.
        content: its values: mappings, lists and texts; None where nothing can be read.
        nodes: of the values, by their way from the top; a key's is `(..., key, "")`.
        problems: why it is no YAML, and keys that are there twice.
    """

    name: str
    text: str
    content: Any = None
    nodes: dict[Place, yaml.Node] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    def spot(self, place: Place) -> Spot:
        """Where a value begins, or the nearest one around it."""
        while place and place not in self.nodes:
            place = place[:-1]
        node = self.nodes.get(place)
        return _spot(node.start_mark) if node else Spot(1, 1)

    def spot_within(self, place: Place, offset: int) -> Spot:
        """Where a character of a text is written.

        Args:
            place: of the text.
            offset: of the character, from 0; the text's length means its end.
        """
        node = self.nodes[place]
        if not isinstance(node, yaml.ScalarNode):
            return self.spot(place)
        at = _index_of(self.text, node, offset)
        return _spot_at(self.text, at)


def read_written(text: str, name: str) -> Written:
    """Read one YAML document; what is wrong with it is in `problems`."""
    try:
        node = yaml.compose(text, yaml.BaseLoader)
        content = yaml.load(text, yaml.BaseLoader)  # noqa: S506 - texts, lists and mappings only
    except yaml.MarkedYAMLError as error:
        spot = _spot(error.problem_mark) if error.problem_mark else Spot(1, 1)
        problem = f"no YAML: {error.problem}: put a text with ': ' or ' #' in quotes"
        return Written(name, text, problems=(Problem(name, spot, problem),))
    except ReaderError as error:
        said = f"no YAML: the character U+{ord(text[error.position]):04X}: remove it"
        return Written(name, text, problems=(Problem(name, _spot_at(text, error.position), said),))
    if node is None:
        return Written(name, text)
    nodes: dict[Place, yaml.Node] = {}
    problems = []
    for place, found in _nodes(node, ()):
        if place in nodes and place[-1] == "":
            said = f"the key {place[-2]!r} is there twice: leave one out"
            problems.append(Problem(name, _spot(found.start_mark), said))
        nodes[place] = found
    return Written(name, text, content, nodes, tuple(problems))


def _nodes(node: yaml.Node, place: Place) -> Iterator[tuple[Place, yaml.Node]]:
    """Each value under a node, and each key."""
    yield place, node
    if len(place) == _DEPTH:
        return
    if isinstance(node, yaml.SequenceNode):
        for at, part in enumerate(node.value):
            yield from _nodes(part, (*place, at))
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield (*place, str(key.value), ""), key
            yield from _nodes(value, (*place, str(key.value)))


def _spot(mark: yaml.Mark) -> Spot:
    return Spot(mark.line + 1, mark.column + 1)


def _spot_at(text: str, at: int) -> Spot:
    line_start = text.rfind("\n", 0, at) + 1
    return Spot(text.count("\n", 0, at) + 1, at - line_start + 1)


def _index_of(text: str, node: yaml.ScalarNode, offset: int) -> int:
    """The index in the file of a scalar's character.

    A scalar may be folded, indented and quoted, but its characters other than blanks are written
    in their order; what stands between them is passed over. Of a text with escapes, in double
    quotes, the begin is told.
    """
    at, end = node.start_mark.index, node.end_mark.index
    if "\\" in text[at:end] and node.style == '"':
        return at
    if node.style in ("|", ">"):
        at = text.index("\n", at) + 1
    elif node.style:
        at += 1
    value = node.value[:offset]
    for character in filter(lambda x: not x.isspace(), value):
        is_doubled = node.style == "'" and character == "'"
        at = text.index(character, at) + (2 if is_doubled else 1)
    return _skipped(text, at, end) if offset < len(node.value) and _is_apart(value) else at


def _is_apart(before: str) -> bool:
    """Whether blanks come before a character, which may be line ends and indentation."""
    return not before or before[-1].isspace()


def _skipped(text: str, at: int, end: int) -> int:
    """The next index that has no blank."""
    while at < end and text[at].isspace():
        at += 1
    return at
