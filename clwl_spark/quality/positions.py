"""YAML whose values remember their lines, so that an error can name one."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from clwl_spark.errors import SettingsError

Place = tuple[str | int, ...]
"""The way to a value: keys and positions, from the top."""


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
        SettingsError: it is no YAML, or a key is there twice.
    """
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return Document(name, None, {})
        lines = dict(_lines(node, (), name))
        return Document(name, loader.construct_document(node), lines)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise SettingsError(f"{name}:{line}: no YAML: {error.problem}: correct it") from error
    except yaml.YAMLError as error:
        raise SettingsError(f"{name}: no YAML: {error}: correct it") from error
    finally:
        loader.dispose()


def _lines(node: yaml.Node, place: Place, name: str) -> Iterator[tuple[Place, int]]:
    """The line of each value under a node; a value of a mapping counts from its key."""
    yield place, node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode):
        for at, part in enumerate(node.value):
            yield from _lines(part, (*place, at), name)
    elif isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            if key.value in seen:
                line = key.start_mark.line + 1
                raise SettingsError(f"{name}:{line}: {key.value!r} is there twice: leave one out")
            seen.add(key.value)
            yield from _lines(value, (*place, key.value), name)
            yield (*place, key.value), key.start_mark.line + 1
