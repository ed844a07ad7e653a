"""Topics, scopes and proxy subscriptions: SEMANTICS section 9, P17-P19, P38, P39.

Choices, where the text can be read in more than one way:
    1. TOPICSTR T is an ancestor of S where S starts with `T/`; so for the topic object (P17) `''`
       is one of `/a`, not of `a`. For scopes it is none of anything (P39).
    2. Topic hosts and aliases in clusters L is not in are candidate rows like queues (P4); the
       topic object itself, and so its clusters, is looked for in L's clusters only (P17).
    3. A scope that is neither ALL nor QMGR is none.
    4. L has a PROXY row where any of its subscriptions is one, whatever it matches.
"""

from dataclasses import dataclass
from typing import Final

from reference_rows import Row, matches_topic
from reference_views import View

SCOPES: Final = ("ALL", "QMGR")


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic object as one queue manager sees it.

    Attributes:
        name: of the topic object.
        topicstr: its TOPICSTR.
        own: L's own rows of it that are shared in a cluster of L's.
        others: the rows of others that L sees.
    """

    name: str
    topicstr: str
    own: list[Row]
    others: list[Row]

    @property
    def rows(self) -> list[Row]:
        """All of them."""
        return self.own + self.others

    @property
    def clusters(self) -> set[str]:
        """Clusters of L's that the topic is in."""
        return {row["cluster"] for row in self.rows}

    @property
    def has_hosts(self) -> bool:
        """True where its CLROUTE is TOPICHOST: any row says so (P17)."""
        return any(row["clroute"] == "TOPICHOST" for row in self.rows)

    @property
    def is_hosted_here(self) -> bool:
        """True where L is one of its topic hosts."""
        return any(row["clroute"] == "TOPICHOST" for row in self.own)


def topic_of(view: View, topic_string: str) -> Topic | None:
    """The topic object for a topic string (P17)."""
    own, others = view.own_shared("topics"), view.others_seen("topics")
    rows = [row for row in own + others if is_above(row["topicstr"], topic_string)]
    keys = {(row["topic"], row["topicstr"]) for row in rows}
    if not keys:
        return None
    name, topicstr = key = min(keys, key=lambda key: (-len(key[1]), key[0]))

    def of_it(rows: list[Row]) -> list[Row]:
        return [row for row in rows if (row["topic"], row["topicstr"]) == key]

    return Topic(name, topicstr, of_it(own), of_it(others))


def is_above(topicstr: str, topic_string: str) -> bool:
    """True for the string itself and for its ancestors by `/` levels."""
    return f"{topic_string}/".startswith(f"{topicstr}/")


def members(view: View, topic: Topic) -> set[str]:
    """The other queue managers of the topic's clusters, in L's own view alone (P37)."""
    rows = view.others_seen("cluster_channels")
    return {row["qmgr"] for row in rows if row["cluster"] in topic.clusters}


# ---- proxy subscriptions -------------------------------------------------------------------------


def receivers(view: View, topic: Topic, topic_string: str, edition: int) -> set[str]:
    """Members of the topic's clusters that have a proxy subscription on L matching it."""
    there = members(view, topic)
    if any(row["proxysub"] == "FORCE" for row in topic.rows):
        return there
    proxies = [row for row in _subscriptions(view) if row["subtype"] == "PROXY"]
    if edition == 1 or proxies:
        return there & {row["dest_qmgr"] for row in proxies if matches_topic(row, topic_string)}
    return {qmgr for qmgr in there if has_user_subscription(view.of(qmgr), topic_string)}


def has_user_subscription(view: View, topic_string: str) -> bool:
    """True where a USER subscription of effective scope ALL takes the publication."""
    users = [row for row in _subscriptions(view) if row["subtype"] == "USER"]
    users = [row for row in users if matches_topic(row, topic_string)]
    return any(subscription_scope(view, row) == "ALL" for row in users)


def _subscriptions(view: View) -> list[Row]:
    return [row for row in view.tables["subscriptions"] if row["qmgr"] == view.qmgr]


# ---- scopes --------------------------------------------------------------------------------------


def publication_scope(view: View, topic_string: str) -> str:
    """The effective PUBSCOPE of a topic string on L: ALL or QMGR."""
    return _scope_above(view, topic_string, "pub_scope")


def subscription_scope(view: View, subscription: Row) -> str:
    """The effective SUBSCOPE of one of L's subscriptions: ALL or QMGR."""
    if subscription["sub_scope"] in SCOPES:
        return str(subscription["sub_scope"])
    return _scope_above(view, subscription["topicstr"], "sub_scope")


def _scope_above(view: View, topic_string: str, column: str) -> str:
    """That of the nearest topic object above the string that has one (P39)."""
    ranked = [(0, row) for row in view.own("topics")]
    ranked += [(1, row) for row in view.others_seen("topics")]
    found = [
        (-len(row["topicstr"]), place, row["topic"], row["cluster"], row["qmgr"], row[column])
        for place, row in ranked
        if row[column] in SCOPES
        and row["topicstr"] != ""
        and is_above(row["topicstr"], topic_string)
    ]
    return str(min(found)[-1]) if found else "ALL"
