"""YAML whose values remember their lines, so that an error can name one."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import yaml
from yaml.constructor import ConstructorError
from yaml.reader import ReaderError

from clwl_spark.errors import SettingsError

Place = tuple[str | int, ...]
"""The way to a value: keys and positions, from the top."""
_DEPTH: Final = 8
"""Deeper than any suite; an anchor that stands for itself would have no end."""


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML document.

    Attributes:
        name: of the file, for messages.
        content: the values.
        lines: line, from 1, of each value by its way from the top.
    """

    name: str
    content: Any
    lines: dict[Place, int]

    def where(self, place: Place) -> str:
        """`file:line` of a value, or of the nearest one around it."""
        while place and place not in self.lines:
            place = place[:-1]
        return f"{self.name}:{self.lines.get(place, 1)}"


def read_yaml(text: str, name: str) -> Document:
    """Read one YAML document.

    Raises:
        SettingsError: it is no YAML, a key is no word, or is there twice; with file and line.
    """
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            return Document(name, None, {})
        lines = dict(_lines(node, (), name))
        return Document(name, loader.construct_document(node), lines)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise SettingsError(f"{name}:{line}: no YAML: {error.problem}: correct it") from error
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        character = f"the character U+{ord(text[error.position]):04X}"
        raise SettingsError(f"{name}:{line}: no YAML: {character}: remove it") from error


class _Loader(yaml.SafeLoader):
    """Tells where a value is that no date or number can be made of."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: ANN401, FBT001, FBT002
        try:
            return super().construct_object(node, deep)
        except (ValueError, IndexError) as error:
            raise ConstructorError(None, None, str(error), node.start_mark) from error


def _lines(node: yaml.Node, place: Place, name: str) -> Iterator[tuple[Place, int]]:
    """The line of each value under a node; a value of a mapping counts from its key."""
    yield place, node.start_mark.line + 1
    if len(place) == _DEPTH:
        return
    if isinstance(node, yaml.SequenceNode):
        for at, part in enumerate(node.value):
            yield from _lines(part, (*place, at), name)
    elif isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise SettingsError(f"{name}:{line}: a key that is no word: correct it")
            if key.value in seen:
                raise SettingsError(f"{name}:{line}: {key.value!r} is there twice: leave one out")
            seen.add(key.value)
            yield from _lines(value, (*place, key.value), name)
            yield (*place, key.value), line
