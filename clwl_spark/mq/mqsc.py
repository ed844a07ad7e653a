"""The grammar of the MQSC commands that change definitions.

Only the attributes that the contract's tables need become tokens of their own; a run of others is
one token, which is what makes a dump of thousands of objects read in about a second.
"""

import re
from typing import Final, NamedTuple

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedInput

from clwl_spark.mq.keywords import DEFINED, DISPLAYED_OBJECTS, OTHER_OBJECTS
from clwl_spark.mq.records import Attributes, PieceRefusedError

VERBS: Final = {
    "DEFINE": "DEFINE",
    "DEF": "DEFINE",
    "ALTER": "ALTER",
    "ALT": "ALTER",
    "DELETE": "DELETE",
    "DEL": "DELETE",
    "SUSPEND": "SUSPEND",
    "RESUME": "RESUME",
}
"""Every spelling of a verb that changes definitions -> its full word."""

OTHER_VERBS: Final = frozenset(
    {
        "DISPLAY",
        "DIS",
        "START",
        "STA",
        "STOP",
        "SET",
        "REFRESH",
        "REF",
        "RESET",
        "RESOLVE",
        "RES",
        "CLEAR",
        "PING",
        "PIN",
        "ARCHIVE",
        "ARC",
        "BACKUP",
        "MOVE",
        "PURGE",
        "RECOVER",
        "REC",
        "RVERIFY",
        "END",
        "QUIT",
        "EXIT",
    }
)
"""Verbs that change no definition: known and left out."""

ENDS: Final = frozenset({"END", "QUIT", "EXIT"})

OBJECTS: Final = {
    "QLOCAL": ("queue", "QLOCAL"),
    "QL": ("queue", "QLOCAL"),
    "QALIAS": ("queue", "QALIAS"),
    "QA": ("queue", "QALIAS"),
    "QREMOTE": ("queue", "QREMOTE"),
    "QR": ("queue", "QREMOTE"),
    "QMODEL": ("queue", "QMODEL"),
    "QM": ("queue", "QMODEL"),
    "CHANNEL": ("channel", ""),
    "CHL": ("channel", ""),
    "NAMELIST": ("namelist", ""),
    "NL": ("namelist", ""),
    "TOPIC": ("topic", ""),
    "SUB": ("sub", ""),
    "QMGR": ("qmgr", ""),
}
"""Object keyword -> (kind, subtype) of the definitions that give rows or that rows refer to."""

_EVERY_OBJECT: Final = OTHER_OBJECTS | OBJECTS.keys() | DISPLAYED_OBJECTS

SYNONYMS: Final = {"TARGQ": "TARGET"}

ATTRIBUTES: Final = (
    "CLUSTER",
    "CLUSNL",
    "CLWLRANK",
    "CLWLPRTY",
    "CLWLUSEQ",
    "CLWLWGHT",
    "CLWLMRUC",
    "NETPRTY",
    "DEFBIND",
    "PUT",
    "TARGET",
    "TARGQ",
    "RNAME",
    "RQMNAME",
    "XMITQ",
    "USAGE",
    "CLCHNAME",
    "QSGDISP",
    "LIKE",
    "DEFCLXQ",
    "DEFXMITQ",
    "REPOS",
    "REPOSNL",
    "QSGNAME",
    "CHLTYPE",
    "CONNAME",
    "NAMES",
    "TOPICSTR",
    "CLROUTE",
    "PUB",
    "PROXYSUB",
    "TOPICOBJ",
    "DEST",
    "DESTQMGR",
    "DESTCLAS",
    "SUBTYPE",
)
"""Attributes that become tokens."""

# Possessive quantifiers: an unclosed quote or parenthesis must fail at once, not by backtracking.
_QUOTED = r"'[^']*+(?:''[^']*+)*+'"
_INNER = rf"\((?:[^'()]++|{_QUOTED})*+\)"
_BODY = rf"\(((?:[^'()]++|{_QUOTED}|{_INNER})*+)\)"
_OBJECT = "|".join(OBJECTS)
_KEYWORD = "|".join(sorted({*OBJECTS, *ATTRIBUTES}, key=len, reverse=True))
_FLAG = "REPLACE|NOREPLACE"

_GRAMMAR = rf"""
start: VERB FLAG* (QMGR | OBJECT) (PAIRS | FLAG | OTHERS)* ";"?
VERB.3: /(?:{"|".join(VERBS)})\b/i
QMGR.3: /QMGR\b/i
OBJECT.3: /(?:{_OBJECT})\s*{_BODY}/i
FLAG.2: /(?:{_FLAG})\b/i
PAIRS.2: /(?:(?:{_KEYWORD})\s*{_BODY}[\s,]*+)++/i
OTHERS.1: /(?:(?!(?:{_KEYWORD}|{_FLAG})\b)[A-Z]\w*+(?:\s*{_BODY})?[\s,]*+)++/i
BLANK: /[\s,]+/
%ignore BLANK
"""

_HEAD = re.compile(rf"([A-Za-z]+)\s+(?:(?:{_FLAG})\s+)?([A-Za-z]+)(\s*\()?", re.IGNORECASE)
_PAIR = re.compile(rf"([A-Za-z]\w*+)\s*{_BODY}")
_OTHER = re.compile(rf"([A-Za-z]\w*+)(?:\s*{_BODY})?[\s,]*+")
_ITEM = re.compile(rf"\s*({_QUOTED}|[^',]*)\s*,?")


class Command(NamedTuple):
    """A command that changes definitions, in canonical words.

    `others` are the keywords of the attributes that give no column.
    """

    verb: str
    kind: str
    subtype: str
    name: str
    attributes: Attributes
    replace: bool
    others: frozenset[str] = frozenset()


class _ToCommand(Transformer[Token, Command]):
    """Build the command while parsing; no tree is made."""

    def start(self, tokens: list[Token]) -> Command:
        """Turn the tokens of one command into a record."""
        replace = False
        attributes: Attributes = {}
        others: set[str] = set()
        word = value = ""
        for token in tokens[1:]:
            if token.type == "PAIRS":
                attributes.update(_cooked(key.upper(), text) for key, text in _PAIR.findall(token))
            elif token.type == "OTHERS":
                others.update(key.upper() for key, _ in _OTHER.findall(token))
            elif token.type == "FLAG":
                replace = token.upper() == "REPLACE"
            else:
                word, _, value = token.partition("(")
        kind, subtype = OBJECTS[word.strip().upper()]
        verb, name = VERBS[tokens[0].upper()], cook(value[:-1])
        return Command(verb, kind, subtype, name, attributes, replace, frozenset(others))


def _cooked(key: str, text: str) -> tuple[str, str]:
    """An attribute as MQ keeps it; a list of names as it is written."""
    return SYNONYMS.get(key, key), text if key == "NAMES" else cook(text)


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
    head = _HEAD.match(text)
    if head is None:
        return False
    verb, word = head[1].upper(), head[2].upper()
    if verb in VERBS and (word in OBJECTS or (head[3] and word not in OTHER_OBJECTS)):
        return True
    return not changing and (verb in VERBS or verb in OTHER_VERBS) and word in _EVERY_OBJECT


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
    """Refuse an attribute that MQ does not have for this type of object."""
    group = (command.kind, command.subtype)
    if command.verb in ("SUSPEND", "RESUME"):
        group = ("membership", "")
    unknown = (command.others | command.attributes.keys()) - DEFINED[group]
    if unknown:
        words = ", ".join(sorted(unknown))
        reason = f"{command.subtype or command.kind.upper()} has no attribute {words}"
        raise PieceRefusedError(reason)
