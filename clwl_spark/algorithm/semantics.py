"""By which rules a lake is routed, from its first run on.

Source: SEMANTICS, "Edition 2"; R3.
"""

from dataclasses import dataclass

from clwl_spark.mq.vocabulary import Algorithm, Edition


@dataclass(frozen=True, slots=True)
class Semantics:
    """The order of the rules, and the edition of SEMANTICS that they are applied by.

    Attributes:
        algorithm: v9 or v7.
        edition: 1 or 2.
    """

    algorithm: Algorithm = Algorithm.V9
    edition: Edition = Edition.SECOND

    @property
    def by_factor(self) -> bool:
        """Whether the balancing looks at the factor whatever the weights are (R3)."""
        return self.algorithm == Algorithm.V7 and self.edition >= Edition.SECOND

    def __str__(self) -> str:
        """As messages say it."""
        return f"algorithm {self.algorithm.value}, edition {self.edition.value}"
