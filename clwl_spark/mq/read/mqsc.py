"""The grammar of the MQSC commands that change definitions.

A command's attributes are one token, a run of KEYWORD(value) and bare words, which is what makes
a dump of thousands of objects read in less than a second.
"""

import re
from typing import NamedTuple

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedInput

from clwl_spark.mq.read.keywords import DEFINED, OTHER_OBJECTS
from clwl_spark.mq.read.records import Attributes, PieceRefusedError
from clwl_spark.mq.read.values import CONVERTED
from clwl_spark.mq.read.words import ATTRIBUTES, EVERY_OBJECT, OBJECTS, OTHER_VERBS, SYNONYMS, VERBS

# Possessive quantifiers: an unclosed quote or parenthesis must fail at once, not by backtracking.
_QUOTED = r"'[^']*+(?:''[^']*+)*+'"
_INNER = rf"\((?:[^'()]++|{_QUOTED})*+\)"
_VALUE = rf"\((?:[^'()]++|{_QUOTED}|{_INNER})*+\)"
_FLAG = "REPLACE|NOREPLACE"

_GRAMMAR = rf"""
start: VERB FLAG* (QMGR | OBJECT) ATTRIBUTES? ";"?
VERB.3: /(?:{"|".join(VERBS)})\b/i
QMGR.3: /QMGR\b/i
OBJECT.3: /(?:{"|".join(OBJECTS)})\s*{_VALUE}/i
FLAG.2: /(?:{_FLAG})\b/i
ATTRIBUTES.1: /(?:[A-Za-z]\w*+(?:\s*{_VALUE})?+[\s,]*+)++/
BLANK: /[\s,]+/
%ignore BLANK
"""

_HEAD = re.compile(rf"([A-Za-z]+)\s+(?:(?:{_FLAG})\s+)?([A-Za-z]+)(\s*\()?", re.IGNORECASE)
_ATTRIBUTE = re.compile(rf"([A-Za-z]\w*+)(?:\s*({_VALUE}))?+[\s,]*+")
_USED = ATTRIBUTES | (CONVERTED - {"QMID", "QMTYPE", "SUSPEND"})
"""What becomes of a definition; three columns are of what DISPLAY shows alone."""
_ITEM = re.compile(rf"\s*({_QUOTED}|[^',]*)\s*,?")


class Command(NamedTuple):
    """A command that changes definitions, in canonical words.

    `others` are the keywords of the attributes that give no column, `bare` those of the ones that
    do and that have no value.
    """

    verb: str
    kind: str
    subtype: str
    name: str
    attributes: Attributes
    replace: bool
    others: frozenset[str] = frozenset()
    bare: frozenset[str] = frozenset()


class _ToCommand(Transformer[Token, Command]):
    """Build the command while parsing; no tree is made."""

    def start(self, tokens: list[Token]) -> Command:
        """Turn the tokens of one command into a record."""
        found: list[tuple[str, str]] = []
        word = value = ""
        for token in tokens[1:]:
            if token.type == "ATTRIBUTES":
                found += _ATTRIBUTE.findall(token)
            elif token.type == "FLAG":
                found.append((token, ""))
            else:
                word, _, value = token.partition("(")
        kind, subtype = OBJECTS[word.strip().upper()]
        verb, name = VERBS[tokens[0].upper()], cook(value[:-1])
        raw = {key.upper(): text for key, text in found}
        used = raw.keys() & _USED
        attributes = {SYNONYMS.get(key, key): _cooked(key, raw[key]) for key in used}
        return Command(
            verb,
            kind,
            subtype,
            name,
            attributes,
            replace="REPLACE" in raw,
            others=frozenset(raw.keys() - used),
            bare=frozenset(key for key in used if not raw[key]),
        )


def _cooked(key: str, text: str) -> str:
    """An attribute as MQ keeps it; a list of names as it is written."""
    return text[1:-1] if key == "NAMES" else cook(text[1:-1])


_PARSER = Lark(
    _GRAMMAR, parser="lalr", lexer="contextual", transformer=_ToCommand(), maybe_placeholders=False
)


def cook(value: str) -> str:
    """Give a value as MQ keeps it: quoted as it is, unquoted in upper case, blank as ''."""
    value = value.strip()
    if len(value) > 1 and value[0] == "'" and value[-1] == "'":
        return value[1:-1].replace("''", "'").rstrip()
    return value.upper()


def cook_list(value: str) -> list[str]:
    """Give the members of a list value (NAMES of a name list), blanks and repeats left out."""
    names = [cook(item) for item in _ITEM.findall(value)]
    return list(dict.fromkeys(name for name in names if name))


def changes_definitions(text: str) -> bool:
    """True where a command changes an object that gives rows or that rows refer to.

    Raises:
        PieceRefusedError: it would change an object of a type that MQ does not have.
    """
    head = _HEAD.match(text)
    if head is None or head[1].upper() not in VERBS:
        return False
    word = head[2].upper()
    if word in OBJECTS:
        return True
    if head[3] and word not in OTHER_OBJECTS:
        reason = f"MQ has no object type {word} that {VERBS[head[1].upper()]} takes"
        raise PieceRefusedError(reason)
    return False


def is_mqs_command(text: str, *, changing: bool = False) -> bool:
    """True where a text begins like a command of MQ's: a verb and an object that it takes.

    Args:
        text: a line that begins with a verb.
        changing: only where the command changes an object that gives rows.
    """
    verb, word = command_words(text)
    if verb in VERBS and word in OBJECTS:
        return True
    return bool(word) and not changing


def command_words(text: str) -> tuple[str, str]:
    """The verb and the object's type of a command, in upper case; ('', '') where it is none."""
    head = _HEAD.match(text)
    verb, word = (head[1].upper(), head[2].upper()) if head else ("", "")
    known = (verb in VERBS or verb in OTHER_VERBS) and word in EVERY_OBJECT
    return (verb, word) if known else ("", "")


def attributes_behind(text: str) -> Attributes:
    """The attributes of a command without an object's name, with values as they are written.

    Raises:
        PieceRefusedError: something in it is no attribute.
    """
    head = _HEAD.match(text)
    rest = text[head.end(2) :].strip().removesuffix(";") if head else text
    found = list(_ATTRIBUTE.finditer(rest.strip()))
    if "".join(x[0] for x in found) != rest.strip():
        reason = f"not a valid MQSC command near '{rest.strip()[-30:]}'"
        raise PieceRefusedError(reason)
    return {x[1].upper(): (x[2] or "()")[1:-1] for x in found}


def defined_name(text: str) -> tuple[str, str] | None:
    """The kind and name of the object that a DEFINE is about, sentence or not; None = no DEFINE."""
    head = _HEAD.match(text)
    if head is None or not head[3] or VERBS.get(head[1].upper()) != "DEFINE":
        return None
    kind, _ = OBJECTS.get(head[2].upper(), ("", ""))
    return (kind, cook(text[head.end() :].partition(")")[0])) if kind else None


def parse(text: str) -> Command:
    """Parse one joined DEFINE, ALTER, DELETE, SUSPEND or RESUME command.

    Args:
        text: the command on one line.

    Returns:
        Its words; abbreviations and synonyms are written out.

    Raises:
        PieceRefusedError: it is not a sentence of MQSC, or has an attribute that MQ does not have.

    Source: MQSC reference, "Rules for using MQSC commands".
    """
    try:
        command = _PARSER.parse(text)
    except UnexpectedInput as error:
        place = getattr(error, "pos_in_stream", None)
        near = text[place : place + 30] if isinstance(place, int) else text[-30:]
        reason = f"not a valid MQSC command near '{near}'"
        raise PieceRefusedError(reason) from error
    if not isinstance(command, Command) or (command.kind != "qmgr" and not command.name):
        reason = "not a valid MQSC command: no object name"
        raise PieceRefusedError(reason)
    _refuse_unknown(command)
    return command


def _refuse_unknown(command: Command) -> None:
    """Refuse attributes without a value, and those that MQ does not have for this type."""
    group = (command.kind, command.subtype)
    if command.verb in ("SUSPEND", "RESUME"):
        group = ("membership", "")
    if command.bare:
        reason = f"not a valid MQSC command: no value of {', '.join(sorted(command.bare))}"
        raise PieceRefusedError(reason)
    unknown = (command.others | command.attributes.keys()) - DEFINED[group]
    if unknown:
        words = ", ".join(sorted(unknown))
        reason = f"{command.subtype or command.kind.upper()} has no attribute {words}"
        raise PieceRefusedError(reason)
