"""A snapshot's tables after a change, as ingesting the change into it would make them.

What the owner changes is seen by everybody (`passed_on`).
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import InputError
from clwl_spark.logs import tell_nobody
from clwl_spark.mq.vocabulary import ChannelType
from clwl_spark.snapshots.inspection import STATE
from clwl_spark.snapshots.reading import sources_of
from clwl_spark.snapshots.settled import settle_files
from clwl_spark.snapshots.views import DEFAULTS
from clwl_spark.studies.what_if.lakes import ChangedLake
from clwl_spark.studies.what_if.nulls import with_defaults_told
from clwl_spark.studies.what_if.passed_on import passed_on
from clwl_spark.studies.what_if.texts import Known, NothingHitError, Texts, texts_of
from clwl_spark.studies.what_if.words import Change, ChannelState, Definition, QmgrDown
from clwl_spark.tables import TABLES, Table
from clwl_spark.tables import columns as c

_SHOWN: Final = 3
_KINDS: Final = {"queues": ("queue", c.QUEUE), "topics": ("topic", c.TOPIC)}

Tables = Mapping[str, DataFrame]


@dataclass(frozen=True, slots=True)
class Sides:
    """A topology before and after a change.

    Attributes:
        before: table -> rows of the snapshot.
        after: table -> rows after the change.
        down: queue managers on which nothing is put any more.
    """

    before: Tables
    after: Tables
    down: frozenset[str] = frozenset()


def changed_by_words(
    lake: Lake, snapshot_id: str, changes: Sequence[Change], scripts: Sequence[Path] = ()
) -> Sides:
    """The tables before and after changes in words, and after scripts that are applied first.

    Args:
        lake: where the snapshot is.
        snapshot_id: the snapshot.
        changes: in order.
        scripts: files of MQSC that name their queue managers.

    Raises:
        NothingHitError: something that is not there, or nothing would change.
        InputError: a piece of a script or a value that MQ would refuse.
        IngestError: a script names no queue manager.
    """
    as_it_is = tables_of(lake, snapshot_id)
    told = _Base(lake, snapshot_id, as_it_is).with_tables(with_defaults_told(as_it_is))
    # Words that say otherwise than a script come later; as one of its files they contradict it.
    base = told.after(scripts) if scripts else told
    texts = texts_of(changes, _found(base, changes))
    if not texts.of_qmgr and not scripts:
        return _checked(Sides(as_it_is, as_it_is, texts.down))
    after = base.with_texts(texts)
    return _checked(Sides(as_it_is, passed_on(told.tables, after), texts.down))


@dataclass(frozen=True, slots=True)
class _Base:
    """A snapshot's tables, as they are or after scripts."""

    lake: Lake
    snapshot_id: str
    tables: Tables

    def after(self, files: Sequence[Path]) -> "_Base":
        """The same when files are carried out.

        Raises:
            InputError: MQ would refuse a piece.
        """
        own = self.snapshot_id
        outcome = settle_files(self.lake, sources_of(files), own, own, tell_nobody)
        if outcome.rejects:
            told = "; ".join(
                f"{x.text.strip() or x.file}: {x.reason}" for x in outcome.rejects[:_SHOWN]
            )
            raise InputError(f"MQ would refuse a part of the change: {told}")
        return self.with_tables({**self.tables, **outcome.frames})

    def with_tables(self, tables: Tables) -> "_Base":
        """The same with other rows in some tables."""
        if not tables:
            return self
        place = (self.lake.spark, self.lake.root, self.lake.in_catalog, self.lake.checkpoints)
        lake = ChangedLake(*place, tables)
        return _Base(lake, self.snapshot_id, {**self.tables, **tables})

    def with_texts(self, texts: Texts) -> Tables:
        """The tables when texts are carried out.

        Raises:
            InputError: MQ would refuse a piece.
        """
        if not texts.of_qmgr:
            return self.tables
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for number, text in enumerate(texts.of_qmgr.values()):
                files.append(Path(folder) / f"change{number}.mqsc")
                files[-1].write_text(text, encoding="utf-8")
            return self.after(files).tables


def _found(base: _Base, changes: Sequence[Change]) -> Known:
    """What changes find: what the scripts leave, and channels that other changes define, too."""
    found = known(base.tables, changes)
    defining = [x for x in changes if isinstance(x, Definition)]
    if len(changes) == len(defining) or not any(_is_of_channel(x) for x in defining):
        return found
    return found.with_channels_of(known(base.with_texts(texts_of(defining, found)), changes))


def _is_of_channel(change: Definition) -> bool:
    return change.command.kind in ("channel", "namelist")


def changed_to(lake: Lake, snapshot_id: str, other_id: str) -> Sides:
    """The tables of two snapshots.

    Raises:
        NothingHitError: they are alike, or the same one.
    """
    if snapshot_id == other_id:
        raise NothingHitError(
            f"snapshot {snapshot_id} against itself changes nothing: name another, --snapshot"
        )
    return _checked(Sides(tables_of(lake, snapshot_id), tables_of(lake, other_id)))


def tables_of(lake: Lake, snapshot_id: str) -> Tables:
    """The tables of a snapshot."""
    return {name: lake.read_or_empty(name, c.SNAPSHOT_ID, [snapshot_id]) for name in STATE}


def known(tables: Tables, changes: Sequence[Change]) -> Known:
    """What changes need to know of a snapshot; definitions count, and what owners see.

    Args:
        tables: of the snapshot.
        changes: of channels' statuses, which can be millions, only those that they are about.
    """
    owners: dict[tuple[str, str], set[str]] = {}
    clusters: dict[str, set[str]] = {}
    channels = tables["cluster_channels"].select(c.QMGR, c.CHANNEL, c.CLUSTER).distinct()
    for qmgr, channel, cluster in channels.collect():
        owners.setdefault(("channel", channel), set()).add(qmgr)
        if cluster:
            clusters.setdefault(qmgr, set()).add(cluster)
    qmgrs = set(clusters)
    for table, (kind, name) in _KINDS.items():
        for qmgr, found in tables[table].select(c.QMGR, name).distinct().collect():
            owners.setdefault((kind, found), set()).add(qmgr)
            qmgrs.add(qmgr)
    qmgrs |= {x[0] for x in tables["queue_managers"].select(c.QMGR).distinct().collect()}
    about = {x.channel for x in changes if isinstance(x, ChannelState)}
    down = {x.qmgr for x in changes if isinstance(x, QmgrDown)}
    about |= {name for (of, name), found in owners.items() if of == "channel" and found & down}
    senders, receiving = _statuses(tables["channel_status"], about)
    return Known(
        frozenset(qmgrs),
        {key: frozenset(names) for key, names in owners.items()},
        {qmgr: frozenset(names) for qmgr, names in clusters.items()},
        senders,
        receiving,
    )


def _statuses(
    rows: DataFrame, channels: set[str]
) -> tuple[dict[tuple[str, str, str], tuple[str, str]], dict[tuple[str, str], frozenset[str]]]:
    """`Known.senders` and `Known.receiving` of some channels."""
    senders: dict[tuple[str, str, str], tuple[str, str]] = {}
    receiving: dict[tuple[str, str], set[str]] = {}
    columns = (c.QMGR, c.CHANNEL, c.REMOTE_QMGR, c.STATUS, c.XMITQ, c.CHLTYPE)
    found = rows.where(F.col(c.CHANNEL).isin(*channels)).select(*columns) if channels else None
    for qmgr, channel, other, status, xmitq, chltype in found.collect() if found else ():
        if chltype == ChannelType.CLUSSDR.value:
            senders[qmgr, channel, other] = (status or "", xmitq or "")
        else:
            receiving.setdefault((qmgr, channel), set()).add(other or "")
    return senders, {key: frozenset(names) for key, names in receiving.items()}


def _checked(sides: Sides) -> Sides:
    """Refuse a change that changes nothing; a null is MQ's default."""
    if sides.down:
        return sides
    for name, before in sides.before.items():
        columns = _content_columns(TABLES[name])
        defaults = DEFAULTS.get(name, {})
        old, new = (
            x.select(*columns).fillna(defaults) if defaults else x.select(*columns)
            for x in (before, sides.after[name])
        )
        if not old.exceptAll(new).isEmpty() or not new.exceptAll(old).isEmpty():
            return sides
    raise NothingHitError("the change changes nothing: everything is as it says already")


def _content_columns(table: Table) -> list[str]:
    """The columns that make a topology another one."""
    return [x for x in table.names if x not in (c.SNAPSHOT_ID, c.SOURCE, c.ALTERED)]
