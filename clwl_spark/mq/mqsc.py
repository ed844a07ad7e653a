"""The grammar of the MQSC commands that change definitions.

Only the attributes that the contract's tables need become tokens; runs of others are skipped by
the lexer, which is what makes a dump of thousands of objects read in about a second.
"""

import re
from typing import Final, NamedTuple

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedInput

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
_KEYWORD = "|".join(sorted({*OBJECTS, *ATTRIBUTES}, key=len, reverse=True))
_FLAG = "REPLACE|NOREPLACE"

_GRAMMAR = rf"""
start: VERB (QMGR | PAIR) (PAIR | FLAG)* ";"?
VERB.3: /(?:{"|".join(VERBS)})\b/i
QMGR.3: /QMGR\b/i
FLAG.2: /(?:{_FLAG})\b/i
PAIR.2: /(?:{_KEYWORD})\s*{_BODY}/i
SKIPPED.1: /(?:(?!(?:{_KEYWORD}|{_FLAG})\b)[A-Z]\w*+(?:\s*{_BODY})?[\s,]*+)++/i
BLANK: /[\s,]+/
%ignore BLANK
%ignore SKIPPED
"""

_HEAD = re.compile(r"([A-Za-z]+)\s+([A-Za-z]+)")
_ITEM = re.compile(rf"\s*({_QUOTED}|[^',]*)\s*,?")


class Command(NamedTuple):
    """A command that changes definitions, in canonical words."""

    verb: str
    kind: str
    subtype: str
    name: str
    attributes: Attributes
    replace: bool


class _ToCommand(Transformer[Token, Command]):
    """Build the command while parsing; no tree is made."""

    def start(self, tokens: list[Token]) -> Command:
        """Turn the tokens of one command into a record."""
        word, value = _split(tokens[1])
        kind, subtype = OBJECTS.get(word, (word, ""))
        attributes: Attributes = {}
        replace = False
        for token in tokens[2:]:
            if token.type == "FLAG":
                replace = token.upper() == "REPLACE"
            else:
                key, text = _split(token)
                attributes[SYNONYMS.get(key, key)] = text if key == "NAMES" else cook(text)
        return Command(
            VERBS[tokens[0].upper()], kind, subtype, cook(value), attributes, replace=replace
        )


def _split(token: str) -> tuple[str, str]:
    """KEYWORD(value) as keyword in upper case and raw value."""
    key, _, rest = token.partition("(")
    return key.strip().upper(), rest[:-1]


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
    """True where a command changes an object that gives rows or that rows refer to."""
    head = _HEAD.match(text)
    return head is not None and head[1].upper() in VERBS and head[2].upper() in OBJECTS


def parse(text: str) -> Command:
    """Parse one joined DEFINE, ALTER, DELETE, SUSPEND or RESUME command.

    Args:
        text: the command on one line.

    Returns:
        Its words; abbreviations and synonyms are written out, unknown attributes left out.

    Raises:
        PieceRefusedError: it is not a sentence of MQSC.

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
    return command
