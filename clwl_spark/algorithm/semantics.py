"""By which rules a lake is routed, from its first run on.

Source: SEMANTICS, "Edition 2"; R3.
"""

from dataclasses import dataclass
from typing import Any, Final

from clwl_spark.mq.vocabulary import NEWEST_EDITION, Algorithm, Edition


@dataclass(frozen=True, slots=True)
class Semantics:
    """The order of the rules, and the edition of SEMANTICS that they are applied by.

    Attributes:
        algorithm: v9 or v7.
        edition: 1 or 2.
    """

    algorithm: Algorithm = Algorithm.V9
    edition: Edition = NEWEST_EDITION

    @property
    def by_factor(self) -> bool:
        """Whether the balancing looks at the factor whatever the weights are (R3)."""
        return self.algorithm == Algorithm.V7 and self.edition >= Edition.SECOND

    def to_json(self) -> dict[str, Any]:
        """As documents and headers of files have it."""
        return {"algorithm": self.algorithm.value, "edition": self.edition.value}

    def __str__(self) -> str:
        """As messages say it."""
        return f"algorithm {self.algorithm.value}, edition {self.edition.value}"


NEWEST: Final = Semantics()
"""Of a lake that was not routed yet."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which semantics are asked for.

    Attributes:
        algorithm: None = the lake's.
        edition: None = the lake's.
    """

    algorithm: Algorithm | None = None
    edition: Edition | None = None

    def or_those(self, others: Semantics) -> Semantics:
        """What is asked for, and those of others where nothing is."""
        return Semantics(self.algorithm or others.algorithm, self.edition or others.edition)

    def __str__(self) -> str:
        """As messages say it."""
        named = {"algorithm": self.algorithm, "edition": self.edition}
        return ", ".join(f"{name} {x.value}" for name, x in named.items() if x) or "any"


ANY: Final = Wanted()
"""Nothing is asked for: the lake's."""
