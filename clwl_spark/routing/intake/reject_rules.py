"""What a message means where it says nothing, and why one is set aside: as data.

`by_spark` and `by_arrow` make their form of each rule from its record; this is the only place that
says which there are.

Source: SEMANTICS S1.
"""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from clwl_spark.mq.vocabulary import Bind, ObjectType, RejectError, Via
from clwl_spark.tables import columns as c

DEFAULTS: Final = {
    c.OBJECT_TYPE: ObjectType.QUEUE.value,
    c.OBJECT_QMGR: "",
    c.VIA: Via.LOCAL.value,
    c.BIND: Bind.AS_Q_DEF.value,
}
"""Words of messages where they have none."""


class Condition(Enum):
    """What a rule looks for in the cells of its columns, after DEFAULTS.

    Attributes:
        EMPTY: there is nothing, or an empty text.
        ABSENT: there is nothing.
        UNKNOWN: a word that is none of the rule's.
        UNREAD: something that the contract's type does not have: a text that is not UTF-8, a
            number of more than 64 bits, a moment outside of the years 1 to 9999.
    """

    EMPTY = auto()
    ABSENT = auto()
    UNKNOWN = auto()
    UNREAD = auto()


@dataclass(frozen=True, slots=True)
class RejectRule:
    """Why a message is set aside.

    Attributes:
        error: the reason, as `rejected_messages` has it.
        condition: what is looked for.
        columns: in which; one that has it is enough.
        words: that an UNKNOWN one is none of.
    """

    error: RejectError
    condition: Condition
    columns: tuple[str, ...]
    words: frozenset[str] = frozenset()

    def rejects(self, word: str | None) -> bool:
        """Whether a text is EMPTY, ABSENT or UNKNOWN, whichever is looked for."""
        if self.condition is Condition.UNKNOWN:
            return word not in self.words
        return word is None if self.condition is Condition.ABSENT else not word


REJECT_RULES: Final = (
    RejectRule(RejectError.NO_QMGR, Condition.EMPTY, (c.QMGR,)),
    RejectRule(RejectError.NO_PUT_SEQ, Condition.ABSENT, (c.PUT_SEQ,)),
    RejectRule(RejectError.NO_PUT_TIME, Condition.ABSENT, (c.PUT_TIME,)),
    RejectRule(
        RejectError.UNKNOWN_OBJECT_TYPE, Condition.UNKNOWN, (c.OBJECT_TYPE,), frozenset(ObjectType)
    ),
    RejectRule(RejectError.NO_OBJECT, Condition.EMPTY, (c.OBJECT_NAME,)),
    RejectRule(RejectError.UNKNOWN_BIND, Condition.UNKNOWN, (c.BIND,), frozenset(Bind)),
    RejectRule(RejectError.UNKNOWN_VIA, Condition.UNKNOWN, (c.VIA,), frozenset(Via)),
    RejectRule(RejectError.BAD_NUMBER, Condition.UNREAD, (c.PUT_SEQ, c.OPEN_ID)),
    RejectRule(RejectError.BAD_PUT_TIME, Condition.UNREAD, (c.PUT_TIME,)),
    RejectRule(RejectError.NOT_UTF8, Condition.UNREAD, (c.QMGR, c.OBJECT_NAME, c.OBJECT_QMGR)),
    RejectRule(RejectError.NO_SNAPSHOT, Condition.ABSENT, (c.SNAPSHOT_ID,)),
)
"""In the order in which they are looked for: a message has the first error. Duplicates are looked
for among what none of these rejects (`duplicates`)."""
