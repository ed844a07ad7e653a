"""By which rules a lake is routed, from its first run on.

Source: SEMANTICS, "Edition 2"; R3; 6.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from clwl_spark.mq.vocabulary import NEWEST_EDITION, Algorithm, Edition, NullOpenId


@dataclass(frozen=True, slots=True)
class Semantics:
    """The order of the rules, and the edition of SEMANTICS that they are applied by.

    Attributes:
        algorithm: v9 or v7.
        edition: 1 or 2.
        null_open_id: what messages put ON_OPEN without an open_id belong to.
    """

    algorithm: Algorithm = Algorithm.V9
    edition: Edition = NEWEST_EDITION
    null_open_id: NullOpenId = NullOpenId.OWN

    @property
    def by_factor(self) -> bool:
        """Whether the balancing looks at the factor whatever the weights are (R3)."""
        return self.algorithm == Algorithm.V7 and self.edition >= Edition.SECOND

    @property
    def shares_null_opens(self) -> bool:
        """Whether messages without an open_id share one open."""
        return self.null_open_id == NullOpenId.SHARED

    @property
    def wanted(self) -> "Wanted":
        """These, and no others, asked for."""
        return Wanted(self.algorithm, self.edition, self.null_open_id)

    def to_json(self) -> dict[str, Any]:
        """As documents and headers of files have it; opens of one's own are not mentioned."""
        shared = {"null_open_id": self.null_open_id.value} if self.shares_null_opens else {}
        return {"algorithm": self.algorithm.value, "edition": self.edition.value, **shared}

    def __str__(self) -> str:
        """As messages say it."""
        return _said(self.to_json())


NEWEST: Final = Semantics()
"""Of a lake that was not routed yet."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which semantics are asked for.

    Attributes:
        algorithm: None = the lake's.
        edition: None = the lake's.
        null_open_id: None = the lake's.
    """

    algorithm: Algorithm | None = None
    edition: Edition | None = None
    null_open_id: NullOpenId | None = None

    def or_those(self, others: Semantics) -> Semantics:
        """What is asked for, and those of others where nothing is."""
        return Semantics(
            self.algorithm or others.algorithm,
            self.edition or others.edition,
            self.null_open_id or others.null_open_id,
        )

    def __str__(self) -> str:
        """As messages say it."""
        return _said({name: x.value for name in self.__slots__ if (x := getattr(self, name))})


def _said(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items()) or "any"


ANY: Final = Wanted()
"""Nothing is asked for: the lake's."""
