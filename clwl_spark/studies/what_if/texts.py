"""Changes as the texts that would make them: MQSC for definitions, DISPLAY CHSTATUS for channels.

Pure Python, no Spark.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from clwl_spark.errors import InputError, near_names
from clwl_spark.mq.vocabulary import STATUS_TIERS
from clwl_spark.studies.what_if.words import (
    EVERYWHERE,
    Change,
    ChannelState,
    Definition,
    QmgrDown,
)

_Key = TypeVar("_Key")
_RETRYING: Final = "RETRYING"
_NAMED_KINDS: Final = {"queue": "queue", "channel": "channel", "topic": "topic"}


class NothingHitError(InputError):
    """A change of something that the snapshot does not have, or that is so already."""


@dataclass(frozen=True, slots=True)
class Known:
    """What a snapshot has, as far as changes need to know it.

    Attributes:
        qmgrs: queue managers with rows of their own.
        owners: ("queue", name), ("channel", name) or ("topic", name) -> queue managers that
            define it; of channels, those whose CLUSRCVR it is.
        clusters: queue manager -> clusters that it is in.
        senders: (queue manager, channel, other end) -> status and transmission queue of the
            CLUSSDR, where they are known.
        receiving: (queue manager, channel) -> other ends of the CLUSRCVR's instances; '' = not
            known.
    """

    qmgrs: frozenset[str]
    owners: Mapping[tuple[str, str], frozenset[str]]
    clusters: Mapping[str, frozenset[str]]
    senders: Mapping[tuple[str, str, str], tuple[str, str]] = field(default_factory=dict)
    receiving: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)

    def see(self, qmgr: str) -> list[str]:
        """The queue managers that share a cluster with one."""
        own = self.clusters.get(qmgr, frozenset())
        return sorted(x for x, clusters in self.clusters.items() if x != qmgr and clusters & own)

    def with_channels_of(self, later: "Known") -> "Known":
        """The same, and the channels and the members of clusters of a later state as well."""
        channels = {x: names for x, names in later.owners.items() if x[0] == "channel"}
        return replace(
            self,
            owners=_joined(self.owners, channels),
            clusters=_joined(self.clusters, later.clusters),
            receiving=_joined(self.receiving, later.receiving),
        )


def _joined(
    one: Mapping[_Key, frozenset[str]], other: Mapping[_Key, frozenset[str]]
) -> dict[_Key, frozenset[str]]:
    nobody: frozenset[str] = frozenset()
    return {x: one.get(x, nobody) | other.get(x, nobody) for x in (*one, *other)}


@dataclass(frozen=True, slots=True)
class Texts:
    """What changes come to.

    Attributes:
        of_qmgr: queue manager -> its text.
        down: queue managers that are down, on which nothing is put.
    """

    of_qmgr: Mapping[str, str]
    down: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Written:
    """What the changes up to one come to; each adds to it.

    Attributes:
        owners: as `Known.owners`; of queues and topics after the changes.
        senders: as `Known.senders`, after the changes.
        lines: queue manager -> lines of its text.
        down: queue managers that have ended.
    """

    owners: dict[tuple[str, str], frozenset[str]]
    senders: dict[tuple[str, str, str], tuple[str, str]]
    lines: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    down: set[str] = field(default_factory=set)

    def define(self, change: Definition, places: Sequence[str]) -> None:
        """A command on some queue managers; those after it find what it defines or deletes."""
        for qmgr in places:
            self.lines[qmgr].append(change.text)
        key = (_NAMED_KINDS.get(change.command.kind, ""), change.command.name)
        # A CLUSRCVR is one by more than its name: `Known.with_channels_of`.
        if key[0] in ("", "channel"):
            return
        there = self.owners.get(key, frozenset())
        if change.command.verb == "DEFINE":
            self.owners[key] = there.union(places)
        elif change.command.verb == "DELETE":
            self.owners[key] = there.difference(places)

    def show(self, sender: str, channel: str, owner: str, status: str) -> None:
        """A CLUSSDR's status as DISPLAY CHSTATUS shows it; none runs to what is down."""
        _, xmitq = self.senders.get((sender, channel, owner), ("", ""))
        if owner in self.down and STATUS_TIERS[status] < STATUS_TIERS[_RETRYING]:
            status = _RETRYING
        self.senders[sender, channel, owner] = (status, xmitq)
        of_queue = f" XMITQ({xmitq})" if xmitq else ""
        body = f"CHANNEL({channel}) CHLTYPE(CLUSSDR)\nRQMNAME({owner}) STATUS({status}){of_queue}"
        self.lines[sender].append(_status(body))


def texts_of(changes: Sequence[Change], known: Known) -> Texts:
    """The texts of changes, in their order.

    Args:
        changes: what is said.
        known: the snapshot.

    Raises:
        NothingHitError: the snapshot has no such queue manager, channel or object.
    """
    written = _Written(dict(known.owners), dict(known.senders))
    # Each change finds what those before it left.
    now = replace(known, owners=written.owners, senders=written.senders)
    for change in changes:
        if isinstance(change, Definition):
            written.define(change, _places(change, now))
        elif isinstance(change, ChannelState):
            _set_channel(change, now, written)
        else:
            _end(change, now, written)
    texts = {
        qmgr: f"Starting MQSC for queue manager {qmgr}.\n" + "".join(f"{x}\n" for x in own)
        for qmgr, own in written.lines.items()
    }
    return Texts(texts, frozenset(written.down))


def _places(change: Definition, known: Known) -> list[str]:
    """The queue managers that a definition is for: those named, or the object's one owner."""
    command = change.command
    kind = _NAMED_KINDS.get(command.kind, "")
    owners = known.owners.get((kind, command.name), frozenset())
    if change.on and change.on != EVERYWHERE:
        _check_qmgr(change.words, change.on, known)
        return [change.on]
    what = f"{command.kind} {command.name}".strip()
    if not kind or command.verb == "DEFINE":
        raise NothingHitError(f"'{change.words}': say where, with ON and a queue manager's name")
    if not owners:
        names = sorted(x for (of, x), there in known.owners.items() if of == kind and there)
        raise NothingHitError(
            f"'{change.words}': no queue manager defines {what} (case counts, quote lower case): "
            f"there {_listed(names, command.name)}"
        )
    if len(owners) > 1 and change.on != EVERYWHERE:
        raise NothingHitError(
            f"'{change.words}': {what} is defined on {', '.join(sorted(owners))}: "
            "add ON and one of them, or ON * for all"
        )
    return sorted(owners)


def _set_channel(change: ChannelState, known: Known, written: _Written) -> None:
    """What an operator's STOP or START makes of channels, on one queue manager or on all."""
    if change.on:
        _check_qmgr(change.words, change.on, known)
    ends = _ends(change, known)
    hit = False
    for owner in ends:
        if change.on == owner:
            _set_receiver(change, owner, known, written)
            hit = True
        for sender in known.see(owner):
            if change.on in ("", sender):
                written.show(sender, change.channel, owner, change.status)
                hit = True
    if not hit:
        who = change.on or "no queue manager"
        verb = "is in no cluster" if change.on else "is in a cluster"
        raise NothingHitError(
            f"'{change.words}': {who} {verb} with {', '.join(ends)}, so there is no channel "
            f"{change.channel} to it"
        )


def _ends(change: ChannelState, known: Known) -> list[str]:
    """The queue managers that have the CLUSRCVR; with TO that one alone."""
    owners = known.owners.get(("channel", change.channel), frozenset())
    ends = sorted(x for x in owners if change.to in ("", x))
    if ends:
        return ends
    names = sorted(name for of, name in known.owners if of == "channel")
    raise NothingHitError(
        f"'{change.words}': no queue manager has the CLUSRCVR {change.channel}"
        f"{f' and is {change.to}' if change.to else ''}: there {_listed(names, change.channel)}"
    )


def _set_receiver(change: ChannelState, owner: str, known: Known, written: _Written) -> None:
    """A CLUSRCVR stopped where it is defined: whoever sends over it has to try again.

    A CLUSSDR that is stopped, or the like, stays so, also when the CLUSRCVR is started.
    """
    senders = known.see(owner)
    own = f"CHANNEL({change.channel}) CHLTYPE(CLUSRCVR)"
    for other in sorted(known.receiving.get((owner, change.channel), frozenset()).union(senders)):
        body = f"{own}\nRQMNAME({other or ' '}) STATUS({change.status})"
        written.lines[owner].append(_status(body))
    status = change.status if change.status == "RUNNING" else _RETRYING
    for sender in senders:
        if _tier(known, sender, change.channel, owner) <= STATUS_TIERS[_RETRYING]:
            written.show(sender, change.channel, owner, status)


def _end(change: QmgrDown, known: Known, written: _Written) -> None:
    """A queue manager that ends: nothing is put there, and channels to it are tried again."""
    _check_qmgr(change.words, change.qmgr, known)
    written.down.add(change.qmgr)
    channels = sorted(
        name for (of, name), owners in known.owners.items()
        if of == "channel" and change.qmgr in owners
    )  # fmt: skip
    for sender in known.see(change.qmgr):
        for channel in channels:
            if _tier(known, sender, channel, change.qmgr) < STATUS_TIERS[_RETRYING]:
                written.show(sender, channel, change.qmgr, _RETRYING)


def _tier(known: Known, sender: str, channel: str, owner: str) -> int:
    """The tier of a CLUSSDR's status; 0 = it has none."""
    status, _ = known.senders.get((sender, channel, owner), ("", ""))
    return STATUS_TIERS.get(status, 0)


def _status(body: str) -> str:
    shown = "\n".join(f"   {line}" for line in body.splitlines())
    return f"AMQ8417I: Display Channel Status details.\n{shown}"


def _check_qmgr(words: str, qmgr: str, known: Known) -> None:
    if qmgr not in known.qmgrs:
        raise NothingHitError(
            f"'{words}': there is no queue manager {qmgr} (case counts, quote lower case): "
            f"there {_listed(sorted(known.qmgrs), qmgr)}"
        )


def _listed(names: Iterable[str], wanted: str) -> str:
    """What there is instead: the name in other letters, else the first few."""
    near = near_names(wanted, list(names))
    return f"are {near}" if near else "are none"
