"""One definition printed in every layout that MQ and its tools have."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from mq.mqsc_texts import HEADER, session, two_columns

AMQ = {"queue": "AMQ8409I: x", "channel": "AMQ8414I: x", "topic": "AMQ8633I: x"}
SUBTYPE_KEYS = {"queue": "TYPE", "channel": "CHLTYPE", "topic": "TYPE"}


@dataclass(frozen=True)
class Printed:
    """A definition: kind (queue, channel, topic), type (QLOCAL, CLUSRCVR, LOCAL), attributes."""

    kind: str
    subtype: str
    name: str
    attributes: Mapping[str, str]

    def shown(self) -> list[str]:
        """Its attributes as DISPLAY shows them."""
        first = [f"{self.kind.upper()}({self.name})", f"{SUBTYPE_KEYS[self.kind]}({self.subtype})"]
        return [*first, *(f"{key}({value or ' '})" for key, value in self.attributes.items())]

    def words(self, verb: str = "DEFINE") -> list[str]:
        """The words of the command that defines it, names and texts in quotes."""
        quoted = {key: value.replace("'", "''") for key, value in self.attributes.items()}
        head = {
            "queue": f"{verb} {self.subtype}('{self.name}')",
            "channel": f"{verb} CHANNEL('{self.name}') CHLTYPE({self.subtype})",
            "topic": f"{verb} TOPIC('{self.name}')",
        }[self.kind]
        return [head, *(f"{key}('{value}')" for key, value in quoted.items())]


def one_line(printed: Printed) -> str:
    return HEADER.format(qmgr="QM1") + " ".join(printed.words()) + " REPLACE\n"


def dump(printed: Printed) -> str:
    """Dmpmqcfg's own layout, with a comment within the command."""
    body = [*printed.words(), "*  ALTDATE(2026-01-02)", "   REPLACE"]
    return HEADER.format(qmgr="QM1") + " +\n".join(body) + "\n"


def plus(printed: Printed) -> str:
    """Cut in the middle of everything by `+`, blanks before the next line."""
    return _cut(" ".join(printed.words()), "+\n    ")


def minus(printed: Printed) -> str:
    """Cut in the middle of everything by `-`."""
    return _cut(" ".join(printed.words()), "-\n")


def _cut(text: str, sign: str) -> str:
    # A cut before a blank would lose it, and behind a sign there may be no other.
    parts: list[str] = [""]
    for letter in text:
        full = len(parts[-1]) > 7 and parts[-1][-1] not in " +-" and letter not in " *'"
        if full:
            parts.append(letter)
        else:
            parts[-1] += letter
    return HEADER.format(qmgr="QM1") + sign.join(parts) + "\n"


def loose(printed: Printed) -> str:
    """Lower case, blanks before parentheses, commas, a semicolon."""
    words = [word.split("(", 1) for word in printed.words()]
    text = " , ".join(f"{head.lower()} ({rest}" for head, rest in words)
    return HEADER.format(qmgr="QM1") + text.replace(") chltype", ") CHLTYPE") + " ;\n"


def echoed(printed: Printed) -> str:
    """A session with the command over several lines."""
    return session("QM1", "     1 : " + " +\n       : ".join(printed.words()), "AMQ8006I: done.")


def columns(printed: Printed) -> str:
    return session("QM1", two_columns(AMQ[printed.kind], printed.shown()))


def one_column(printed: Printed) -> str:
    lines = [AMQ[printed.kind].replace("I:", ":"), *(f"   {part}" for part in printed.shown())]
    return session("QM1", "\n".join(lines))


def in_a_row(printed: Printed) -> str:
    return session("QM1", f"{AMQ[printed.kind]}\n   {' '.join(printed.shown())}")


def console(printed: Printed) -> str:
    body = "".join(f" {part}   \n" for part in printed.shown())
    return f" CSQM201I !QM1 CSQMDRTC  DISPLAY QUEUE DETAILS\n{body} END QUEUE DETAILS\n"


def utility(printed: Printed) -> str:
    """CSQUTIL's listing: all in a row, values padded."""
    padded = " ".join(part[:-1] + "      )" for part in printed.shown())
    return f" CSQU055I  Target queue manager is QM1\nCSQM401I !QM1 {padded}\n"


def answer(printed: Printed) -> str:
    """The REST interface's answer."""
    parameters = {key.lower(): value for key, value in _pairs(printed).items()}
    items = [{"parameters": {"qmname": "QM1"}}, {"completionCode": 0, "parameters": parameters}]
    return json.dumps({"commandResponse": items}, indent=2)


def json_line(printed: Printed) -> str:
    return "\n".join([json.dumps({"QMNAME": "QM1"}), json.dumps(_pairs(printed))])


def _pairs(printed: Printed) -> dict[str, str]:
    own = {printed.kind.upper(): printed.name, SUBTYPE_KEYS[printed.kind]: printed.subtype}
    return {**own, **printed.attributes}


COMMANDS = (one_line, dump, plus, minus, loose, echoed)
DISPLAYS = (columns, one_column, in_a_row, console, utility, answer, json_line)
