"""An open lake of the Python API: what is asked about load, and about changes to the cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from clwl_spark.api_answers import Moved
from clwl_spark.api_load import TrafficShares, shares_of, sweep_of, traffic_shares_of
from clwl_spark.api_opened import Opened
from clwl_spark.errors import UsageError
from clwl_spark.what_if.changed import changed_by_words, changed_to
from clwl_spark.what_if.run import what_if
from clwl_spark.what_if.words import understood


@dataclass(slots=True, repr=False)
class Weighed(Opened):
    """A lake whose load, and what would become of it, is asked for."""

    def shares(
        self,
        qmgr: str,
        puts: str | Mapping[str, int],
        *,
        snapshot: str | None = None,
        exit_function: str | None = None,
    ) -> pd.DataFrame:
        """Exact long-run shares of puts of one queue manager, which share its history.

        >>> lake.shares("QM1", {"ORDERS": 3, "INVOICES": 1})

        Args:
            qmgr: where is put.
            puts: a queue name, or names with how many messages are put at a time.
            snapshot: any one.
            exit_function: the cluster workload exit.

        Returns:
            One row per object and route: `share` of the object's messages within the mix, 0 to 1,
            and `expected_share`, that of the object alone. An object that goes nowhere has one row
            with its reason and no destination.

        Raises:
            UnknownQueueManagerError: the snapshot does not define the queue manager.
            UsageError: no object, or a number of messages that is none.
        """
        ladder = self._ladder(exit_function)
        return shares_of(self.tables, self._chosen(snapshot), qmgr, puts, ladder)

    def traffic_shares(
        self, *, snapshot: str | None = None, exit_function: str | None = None
    ) -> TrafficShares:
        """Expected load of the lake's messages, as if all were put while a snapshot is in force.

        >>> lake.traffic_shares().by_channel

        Raises:
            MissingLakeError: there are no messages.
        """
        ladder = self._ladder(exit_function)
        return traffic_shares_of(self.tables, self._chosen(snapshot), ladder)

    def what_if(
        self,
        *changes: str,
        scripts: Sequence[str | Path] = (),
        to: str | None = None,
        snapshot: str | None = None,
        exit_function: str | None = None,
    ) -> Moved:
        """Route the lake's messages as they are and with a change; nothing of the lake changes.

        >>> lake.what_if("STOP CHANNEL(TO.QM2) ON QM1", "ALTER QLOCAL(Q) CLWLPRTY(5) ON QM3")
        >>> lake.what_if(to="tuesday").summary

        Args:
            changes: in the words of runmqsc, and where: ON QM1.
            scripts: files of MQSC that name their queue managers, applied first.
            to: a whole other snapshot, instead of changes.
            snapshot: the one before.
            exit_function: the cluster workload exit.

        Raises:
            UsageError: neither a change nor another snapshot, or both.
            UnknownChangeError: a change is not understood.
            NothingHitError: something that is not there, or nothing would change.
            MissingLakeError: there are no messages.
        """
        if bool(changes or scripts) == (to is not None):
            raise UsageError("say what changes: words or scripts, or to=SNAPSHOT, one of the two")
        understood_changes = [understood(words) for words in changes]
        before, files = self._chosen(snapshot), [Path(x) for x in scripts]
        if to is not None:
            said: tuple[str, ...] = (f"snapshot {to}",)
            sides = changed_to(self.tables, before, self._chosen(to))
        else:
            said = (*map(str, files), *changes)
            sides = changed_by_words(self.tables, before, understood_changes, files)
        options = self._options(exit_function)
        options = replace(options, algorithm=options.algorithm or self._own_algorithm())
        return Moved(what_if(self.tables, before, said, sides, options))

    def sweep(
        self,
        *swept: str,
        puts: Mapping[tuple[str, str], int] | None = None,
        snapshot: str | None = None,
        exit_function: str | None = None,
    ) -> pd.DataFrame:
        """Take each channel, queue manager or cluster away alone: what fails, who takes over.

        >>> lake.sweep("channels").query("requests_stranded > 0")["case"]

        Args:
            swept: of channels, queue-managers, clusters, all; by default channels.
            puts: (queue manager, object) and its messages, instead of the messages of the lake.
            snapshot: any one.
            exit_function: the cluster workload exit.

        Returns:
            One row per case, the worst first; messages are expected numbers, of
            `attrs["messages"]`.

        Raises:
            UsageError: an unknown word.
            MissingLakeError: there are no messages.
        """
        ladder, words = self._ladder(exit_function), swept or ("channels",)
        return sweep_of(self.tables, self._chosen(snapshot), words, puts or {}, ladder)
