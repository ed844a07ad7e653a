"""The words of MQSC commands: verbs, objects, the attributes that rows are made of."""

from typing import Final

from clwl_spark.mq.read.keywords import DISPLAYED_OBJECTS, OTHER_OBJECTS

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

_OTHER_VERBS: Final = (
    "ARC ARCHIVE BACKUP CLEAR DIS DISPLAY END EXIT MOVE PIN PING PURGE QUIT REC RECOVER REF REFRESH"
    " RES RESET RESOLVE RVERIFY SET STA START STOP"
)
OTHER_VERBS: Final = frozenset(_OTHER_VERBS.split())
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

EVERY_OBJECT: Final = OTHER_OBJECTS | OBJECTS.keys() | DISPLAYED_OBJECTS
"""Object keyword of any command."""

SYNONYMS: Final = {"TARGQ": "TARGET"}

_ATTRIBUTES: Final = (
    "CHLTABLE CHLTYPE CLUSNL CLUSTER DESTCLAS LIKE NAMES REPOS REPOSNL TARGQ TOPICOBJ"
)
ATTRIBUTES: Final = frozenset(_ATTRIBUTES.split())
"""Attributes that count in a definition beside those that become columns (`values.CONVERTED`)."""
