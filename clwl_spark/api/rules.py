"""Which rules a question of the Python API follows: those asked for, the settings', the lake's."""

from dataclasses import dataclass, field, replace

from clwl_spark.algorithm.semantics import Semantics
from clwl_spark.cli.route import route_options
from clwl_spark.delta.lake import Lake
from clwl_spark.delta.versions import Versions, versions_of
from clwl_spark.errors import UsageError
from clwl_spark.mq.vocabulary import Algorithm
from clwl_spark.planning.plans import Ladder
from clwl_spark.routing.run import RouteOptions
from clwl_spark.rules.exit import load_exit
from clwl_spark.settings import Settings
from clwl_spark.snapshots.semantics import semantics_of
from clwl_spark.tables import RUNS


@dataclass(slots=True)
class Rules:
    """The rules of a lake.

    Attributes:
        lake: which one.
        settings: its settings.
        looked_up: the lake's semantics by version of its runs.
    """

    lake: Lake
    settings: Settings
    looked_up: dict[Versions, Semantics] = field(default_factory=dict)

    def ladder(self, exit_function: str | None, algorithm: str | None = None) -> Ladder:
        """What is asked for, else the settings', else the lake's.

        Raises:
            UsageError: an unknown algorithm.
        """
        wanted = self.settings.wanted
        if algorithm:
            wanted = replace(wanted, algorithm=known_algorithm(algorithm))
        reference = self.settings.exit if exit_function is None else exit_function
        return Ladder(wanted.or_those(self.own()), load_exit(reference))

    def options(self, exit_function: str | None) -> RouteOptions:
        """How the lake is routed."""
        options = route_options(self.settings)
        return options if exit_function is None else replace(options, exit_function=exit_function)

    def own(self) -> Semantics:
        """The lake's semantics, looked up once for each version of its runs."""
        versions = versions_of(self.lake, [RUNS.name])
        if versions is None:
            return semantics_of(self.lake)
        if versions not in self.looked_up:
            self.looked_up[versions] = semantics_of(self.lake)
        return self.looked_up[versions]


def known_algorithm(word: str) -> Algorithm:
    """An algorithm by its name.

    Raises:
        UsageError: there is none of that name.
    """
    if word not in tuple(Algorithm):
        raise UsageError(f"algorithm {word!r}: there are {', '.join(Algorithm)}")
    return Algorithm(word)
