"""For each gate a corruption of the good world, and the gates that have to report it: no others."""

from quality.gate_worlds import Change, adding, clussdr, in_order, setting, without
from small_worlds import (
    action,
    alias,
    authority,
    message_channel,
    proxy,
    qmgr,
    queue,
    rcvr,
    sender,
    topic,
)

Mutant = tuple[list[Change], set[str]]

_QM2_K = {"qmgr": "QM2", "cluster": "K", "observer": "*"}
_LONG = "X" * 49


def _member(name: str, *clusters: str, **more: object) -> Change:
    """One more queue manager."""
    own = {"conname": f"{name.lower()}(1414)", "qmtype": "NORMAL", **more}
    return adding(
        qmgr(name, qmid=f"{name}_1"),
        *(rcvr(name, cluster, **own) for cluster in clusters),
        *(clussdr(name, "FR1", cluster) for cluster in clusters),
    )


def _double(table: str, **where: object) -> Change:
    """The first such row twice."""

    def change(world: dict[str, list[dict[str, object]]]) -> None:
        rows = world[table]
        rows.append(dict(next(x for x in rows if where.items() <= x.items())))

    return change


def _emptied(*tables: str) -> Change:
    def change(world: dict[str, list[dict[str, object]]]) -> None:
        for name in tables or world:
            world[name] = []

    return change


def _reject(reason: str) -> Change:
    row = {"file": "a.mqsc", "line": 3, "text": "DEFINE ...", "reason": reason}
    return adding(("ingest_rejects", row))


_APP_1 = {"qmgr": "QM1", "queue": "APP.Q", "observer": "*"}
_FR1_SENDS = {"qmgr": "FR1", "channel": "TO.FR2", "cluster": "K"}

EXPECTATIONS: dict[str, Mutant] = {
    "queue_managers.some": (
        [_emptied()],
        {"queue_managers.some", "cluster_channels.some"},
    ),
    "cluster_channels.some": (
        [_emptied("cluster_channels", "cluster_senders", "channel_status", "queues", "topics",
                  "subscriptions"), setting("queue_managers", {"qmgr": "OUT"}, defxmitq="")],
        {"cluster_channels.some"},
    ),
    "queue_managers.unique": ([_double("queue_managers", qmgr="FR1")], {"queue_managers.unique"}),
    "queue_managers.qmgr": (
        [adding(("queue_managers", {"qmgr": None, "qmid": "N"}))],
        {"queue_managers.qmgr"},
    ),
    "queue_managers.name-length": ([adding(qmgr(_LONG))], {"queue_managers.name-length"}),
    "queue_managers.name-characters": (
        [adding(qmgr("QM 3"))], {"queue_managers.name-characters"},
    ),
    "queue_managers.clwluseq": (
        [setting("queue_managers", {"qmgr": "FR1"}, clwluseq="QMGR")], {"queue_managers.clwluseq"},
    ),
    "queue_managers.clwlmruc": (
        [setting("queue_managers", {"qmgr": "OUT"}, clwlmruc=0)], {"queue_managers.clwlmruc"},
    ),
    "queue_managers.defclxq": (
        [setting("queue_managers", {"qmgr": "FR1"}, defclxq="BOTH")], {"queue_managers.defclxq"},
    ),
    "cluster_channels.unique": (
        [_double("cluster_channels", qmgr="FR1")], {"cluster_channels.unique"},
    ),
    "cluster_channels.qmgr": (
        [adding(("cluster_channels", {"channel": "TO.NOBODY", "cluster": "M"}))],
        {"cluster_channels.qmgr", "channel-owner"},
    ),
    "cluster_channels.name-length": (
        [setting("cluster_channels", {"qmgr": "QM1"}, channel="X" * 21),
         setting("queues", {"queue": "QM1.XMIT"}, clchname="X" * 21),
         setting("channel_status", {"remote_qmgr": "QM1"}, channel="X" * 21)],
        {"cluster_channels.name-length"},
    ),
    "cluster_channels.name-characters": (
        [setting("cluster_channels", {"qmgr": "QM1"}, channel="TO QM1"),
         setting("queues", {"queue": "QM1.XMIT"}, clchname="TO QM1"),
         setting("channel_status", {"remote_qmgr": "QM1"}, channel="TO QM1")],
        {"cluster_channels.name-characters"},
    ),
    "cluster_channels.cluster": (
        [adding(rcvr("FR1", "", conname="fr1(1414)"))], {"cluster_channels.cluster"},
    ),
    "cluster_channels.clwlrank": (
        [setting("cluster_channels", {"qmgr": "FR1"}, clwlrank=10)],
        {"cluster_channels.clwlrank"},
    ),
    "cluster_channels.clwlprty": (
        [setting("cluster_channels", {"qmgr": "FR1"}, clwlprty=10)],
        {"cluster_channels.clwlprty"},
    ),
    "cluster_channels.netprty": (
        [setting("cluster_channels", {"qmgr": "FR1"}, netprty=-1)],
        {"cluster_channels.netprty", "netprty-alone"},
    ),
    "cluster_channels.clwlwght": (
        [setting("cluster_channels", {"qmgr": "FR1"}, clwlwght=0)],
        {"cluster_channels.clwlwght"},
    ),
    "cluster_channels.qmtype": (
        [setting("cluster_channels", {"qmgr": "QM1", "cluster": "K"}, qmtype="FULL")],
        {"cluster_channels.qmtype"},
    ),
    "channel_status.unique": ([_double("channel_status", qmgr="FR1")], {"channel_status.unique"}),
    "channel_status.chltype": (
        [setting("channel_status", {"remote_qmgr": "QM2"}, chltype="SDR")],
        {"channel_status.chltype"},
    ),
    "channel_status.status": (
        [setting("channel_status", {"remote_qmgr": "QM1"}, status="UP")],
        {"channel_status.status"},
    ),
    "channel_status.remote-qmgr": (
        [adding(sender("FR1", "", "RUNNING", "TO.QM1"))],
        {"channel_status.remote-qmgr", "status-of-unknown-channel"},
    ),
    "channel_status.backlog": (
        [setting("channel_status", {"remote_qmgr": "QM1"}, backlog=-1)],
        {"channel_status.backlog"},
    ),
    "queues.unique": ([_double("queues", queue="APP.ALIAS")], {"queues.unique"}),
    "queues.qmgr": ([adding(("queues", {"queue": "A", "cluster": ""}))], {"queues.qmgr"}),
    "queues.name-length": ([adding(queue("FR1", _LONG))], {"queues.name-length"}),
    "queues.name-characters": ([adding(queue("FR1", "A-B"))], {"queues.name-characters"}),
    "queues.qtype": ([adding(queue("FR1", "M", qtype="QMODEL"))], {"queues.qtype"}),
    "queues.clwlrank": ([adding(queue("FR1", "A", clwlrank=10))], {"queues.clwlrank"}),
    "queues.clwlprty": ([adding(queue("FR1", "A", clwlprty=-1))], {"queues.clwlprty"}),
    "queues.clwluseq": ([adding(queue("FR1", "A", clwluseq="ALL"))], {"queues.clwluseq"}),
    "queues.defbind": ([adding(queue("FR1", "A", defbind="FIXED"))], {"queues.defbind"}),
    "queues.usage": ([adding(queue("FR1", "A", usage="XMIT"))], {"queues.usage"}),
    "topics.unique": ([_double("topics", qmgr="FR1")], {"topics.unique"}),
    "topics.name-length": ([adding(topic("FR1", _LONG, "/x", ""))], {"topics.name-length"}),
    "topics.clroute": (
        [setting("topics", {}, clroute="HOST")], {"topics.clroute"},
    ),
    "topics.proxysub": (
        [setting("topics", {}, proxysub="ALWAYS")], {"topics.proxysub"},
    ),
    "topics.pub-scope": (
        [setting("topics", {}, pub_scope="ASPARENT")], {"topics.pub-scope"},
    ),
    "topics.sub-scope": (
        [setting("topics", {}, sub_scope="LOCAL")], {"topics.sub-scope"},
    ),
    "subscriptions.unique": (
        [_double("subscriptions", sub_name="S1")], {"subscriptions.unique"},
    ),
    "subscriptions.subtype": (
        [setting("subscriptions", {"sub_name": "S1"}, subtype="API")], {"subscriptions.subtype"},
    ),
    "subscriptions.sub-scope": (
        [setting("subscriptions", {"sub_name": "S1"}, sub_scope="ASPARENT")],
        {"subscriptions.sub-scope"},
    ),
    "views.unique": ([_double("views", observer="QM1")], {"views.unique"}),
    "views.table": ([setting("views", {"table": "queues"}, table="queue")], {"views.table"}),
    "cluster_senders.unique": (
        [_double("cluster_senders", qmgr="QM1")], {"cluster_senders.unique"},
    ),
    "cluster_senders.name-length": (
        [adding(("cluster_senders", {"qmgr": "QM1", "channel": "Y" * 21, "cluster": ""}))],
        {"cluster_senders.name-length"},
    ),
    "message_channels.unique": (
        [_double("message_channels", channel="FR1.BACK")], {"message_channels.unique"},
    ),
    "message_channels.name-length": (
        [adding(message_channel("FR1", "Y" * 21, ""))], {"message_channels.name-length"},
    ),
    "message_channels.chltype": (
        [setting("message_channels", {"channel": "FR1.BACK"}, chltype="RCVR")],
        {"message_channels.chltype"},
    ),
}  # fmt: skip

REFERENCES: dict[str, Mutant] = {
    "channel-owner": ([without("queue_managers", qmgr="QM1")], {"channel-owner"}),
    "one-attribute-set": (
        [setting("cluster_channels", {"qmgr": "FR1", "cluster": "L"}, clwlprty=3)],
        {"one-attribute-set"},
    ),
    "namelist": (
        [_reject("CLUSNL(NL): no text of QM1 defines this name list")], {"namelist"},
    ),
    "rejected-piece": ([_reject("unknown keyword CLWLRNK")], {"rejected-piece"}),
    "alias-target": (
        [setting("queues", {"queue": "APP.ALIAS"}, target="GONE.Q")], {"alias-target"},
    ),
    "remote-queue-manager": (
        [setting("queues", {"queue": "FAR.Q"}, rqmname="QM9")], {"remote-queue-manager"},
    ),
    "transmission-queue": (
        [without("queues", queue="TO.ELSEWHERE")], {"transmission-queue"},
    ),
    "default-transmission-queue": (
        [setting("queues", {"queue": "OUT.DEFAULT"}, usage="NORMAL")],
        {"default-transmission-queue"},
    ),
    "associated-transmission-queue": (
        [setting("channel_status", {"remote_qmgr": "QM1"}, xmitq="OLD.XMIT")],
        {"associated-transmission-queue"},
    ),
    "status-of-unknown-channel": (
        [adding(sender("FR1", "QM2", "RUNNING", "OLD.QM2"))], {"status-of-unknown-channel"},
    ),
    "queue-outside-its-cluster": (
        [adding(queue("QM1", "LONE.Q", "M", defbind="NOTFIXED"))], {"queue-outside-its-cluster"},
    ),
    "topic-outside-its-cluster": (
        [setting("topics", {}, cluster="M")],
        {"topic-outside-its-cluster"},
    ),
    "proxy-destination": (
        [adding(proxy("QM1", "/news", "QM9"))], {"proxy-destination"},
    ),
    "subscription-destination": (
        [setting("subscriptions", {"sub_name": "S1"}, dest="GONE.Q")],
        {"subscription-destination"},
    ),
    "stale-queue": (
        [setting("queues", {"observer": "QM1"}, clwlrank=4)], {"stale-queue"},
    ),
    "stale-channel": (
        [setting("cluster_channels", {"observer": "QM1"}, clwlrank=4)], {"stale-channel"},
    ),
}  # fmt: skip

_REPOSITORIES: dict[str, Mutant] = {
    "no-full-repository": (
        [setting("cluster_channels", {"cluster": "L", "observer": "*"}, qmtype="NORMAL"),
         without("cluster_senders", cluster="L")],
        {"no-full-repository", "receiver-without-sender"},
    ),
    "one-full-repository": (
        [setting("cluster_channels", {"qmgr": "FR2", "cluster": "L"}, qmtype="NORMAL"),
         without("cluster_senders", qmgr="FR1", cluster="L")],
        {"one-full-repository"},
    ),
    "many-full-repositories": (
        [setting("cluster_channels", {"qmgr": "QM2", "cluster": "L"}, qmtype="REPOS"),
         adding(clussdr("QM2", "FR2", "L"), clussdr("FR1", "QM2", "L"),
                clussdr("FR2", "QM2", "L"))],
        {"many-full-repositories", "sender-to-repository-down"},
    ),
    "repositories-connected": (
        [without("cluster_senders", qmgr="FR1", cluster="K")], {"repositories-connected"},
    ),
    "sender-to-partial-repository": (
        [adding(clussdr("QM1", "QM2"))], {"sender-to-partial-repository"},
    ),
    "sender-to-nowhere": ([adding(clussdr("QM1", "FR9"))], {"sender-to-nowhere"}),
    "sender-without-receiver": (
        [adding(clussdr("OUT", "FR1"))], {"sender-without-receiver"},
    ),
    "receiver-without-sender": (
        [without("cluster_senders", qmgr="QM1", cluster="K")], {"receiver-without-sender"},
    ),
    "temporary-name": (
        [adding(sender("QM1", "SYSTEM.TEMPQMGR.fr2(1414)", "RETRYING", "TO.FR2"))],
        {"temporary-name"},
    ),
    "duplicate-qmid": (
        [setting("queue_managers", {"qmgr": "QM2"}, qmid="QM1_2024-05-06")], {"duplicate-qmid"},
    ),
    "two-qmids": (
        [adding(("queue_managers", {"qmgr": "QM2", "qmid": "QM2_1999", "observer": "FR1"}))],
        {"two-qmids"},
    ),
    "channel-of-two": (
        [setting("cluster_channels", {"qmgr": "QM2"}, channel="TO.QM1"),
         without("channel_status", remote_qmgr="QM2")],
        {"channel-of-two", "single-way"},
    ),
    "conname-of-two": (
        [setting("cluster_channels", {"qmgr": "QM2", "observer": "*"}, conname="qm1(1414)")],
        {"conname-of-two"},
    ),
    "sender-conname": (
        [setting("cluster_senders", _FR1_SENDS, conname="old(1414)")], {"sender-conname"},
    ),
    "sender-attributes": (
        [setting("cluster_senders", _FR1_SENDS, clwlwght=10)], {"sender-attributes"},
    ),
    "all-suspended": (
        [setting("cluster_channels", {"cluster": "L"}, suspended=True)], {"all-suspended"},
    ),
    "cluster-size": (
        [adding(*(rcvr(f"Q{n}", "M", qmtype="REPOS" if n < 2 else "NORMAL")
                  for n in range(4501)),
                *(qmgr(f"Q{n}") for n in range(4501)),
                clussdr("Q0", "Q1", "M", conname=""), clussdr("Q1", "Q0", "M", conname=""),
                *(clussdr(f"Q{n}", "Q0", "M", conname="") for n in range(2, 4501)))],
        {"cluster-size"},
    ),
    "channels-of-queue-manager": (
        [adding(*(rcvr(f"Q{n}", "M", qmtype="REPOS" if n < 2 else "NORMAL")
                  for n in range(4500)),
                *(qmgr(f"Q{n}") for n in range(4500)),
                rcvr("Q9", "K", qmtype="NORMAL"), clussdr("Q9", "FR1", "K", conname=""),
                clussdr("Q0", "Q1", "M", conname=""), clussdr("Q1", "Q0", "M", conname=""),
                *(clussdr(f"Q{n}", "Q0", "M", conname="") for n in range(2, 4500)))],
        {"channels-of-queue-manager"},
    ),
    "publishing-cluster-size": (
        [_member(f"P{n}", "K") for n in range(97)], {"publishing-cluster-size"},
    ),
}  # fmt: skip

_BALANCING: dict[str, Mutant] = {
    "instances-defbind": ([setting("queues", _APP_1, defbind="OPEN")], {"instances-defbind"}),
    "instances-clwluseq": ([setting("queues", _APP_1, clwluseq="ANY")], {"instances-clwluseq"}),
    "some-put-disabled": ([setting("queues", _APP_1, put_enabled=False)], {"some-put-disabled"}),
    "all-put-disabled": (
        [setting("queues", {"queue": "NEWS.Q"}, put_enabled=False)], {"all-put-disabled"},
    ),
    "weight-of-many-queues": (
        [setting("cluster_channels", {"qmgr": "QM2", "observer": "*"}, clwlwght=75)],
        {"weight-of-many-queues"},
    ),
    "rank-behind-stopped": (
        [setting("cluster_channels", {"qmgr": "QM2"}, clwlrank=5)], {"rank-behind-stopped"},
    ),
    "queue-rank-behind-stopped": (
        [setting("queues", {"qmgr": "QM2", "queue": "APP.Q"}, clwlrank=5)],
        {"queue-rank-behind-stopped"},
    ),
    "overlapping-clchname": (
        [adding(queue("FR1", "ALL.XMIT", usage="XMITQ", clchname="TO.*"))],
        {"overlapping-clchname", "own-queue-for-several"},
    ),
    "own-queue-for-several": (
        [setting("queue_managers", {"qmgr": "FR2"}, defclxq="CHANNEL")],
        {"own-queue-for-several"},
    ),
    "clchname-without-channel": (
        [adding(queue("FR1", "B.XMIT", usage="XMITQ", clchname="TO_QM*"))],
        {"clchname-without-channel"},
    ),
    "clchname-of-normal-queue": (
        [adding(queue("FR1", "B.XMIT", clchname="TO.QM2"))], {"clchname-of-normal-queue"},
    ),
    "sender-beside-cluster-senders": (
        [adding(message_channel("FR1", "FR1.QM1", "QM1.XMIT"))],
        {"sender-beside-cluster-senders"},
    ),
    "senders-share-xmitq": (
        [adding(message_channel("FR1", "FR1.ELSEWHERE.2", "TO.ELSEWHERE"))],
        {"senders-share-xmitq"},
    ),
    "bind-on-open": (
        [setting("queues", {"queue": "NEWS.Q"}, defbind="OPEN")], {"bind-on-open"},
    ),
    "ordered-split": (
        [adding(in_order("FR1", "APP.Q", "NOT_FIXED"), in_order("FR1", "APP.Q", "ON_OPEN"),
                in_order("QM1", "APP.Q", "NOT_FIXED"), in_order("FR1", "ELSEWHERE", "NOT_FIXED"))],
        {"ordered-split"},
    ),
    "single-way": ([without("queues", qmgr="QM1", queue="NEWS.Q")], {"single-way"}),
    "double-share": (
        [adding(rcvr("QM2", channel="TO.QM2.B", conname="qm2(1415)", qmtype="NORMAL"))],
        {"double-share"},
    ),
    "double-share-by-clusters": (
        [setting("cluster_channels", {"qmgr": "QM2", "cluster": "L"}, channel="TO.QM2.L"),
         adding(queue("QM2", "APP.Q", "L", defbind="NOTFIXED"),
                queue("QM1", "APP.Q", "L", defbind="NOTFIXED"))],
        {"double-share-by-clusters"},
    ),
    "system-cluster-queue-shared": (
        [setting("queues", {"queue": "SYSTEM.CLUSTER.COMMAND.QUEUE"}, cluster="K")],
        {"system-cluster-queue-shared"},
    ),
    "system-cluster-queue-aliased": (
        [adding(alias("FR1", "COMMANDS", "SYSTEM.CLUSTER.COMMAND.QUEUE"))],
        {"system-cluster-queue-aliased"},
    ),
    "system-default-shared": (
        [adding(queue("QM1", "SYSTEM.DEFAULT.LOCAL.QUEUE", "K"))], {"system-default-shared"},
    ),
    "topic-definitions-differ": (
        [setting("topics", {"qmgr": "FR1"}, clroute="TOPICHOST")],
        {"topic-definitions-differ", "topic-host-is-repository"},
    ),
    "topic-host-is-repository": (
        [setting("topics", {}, clroute="TOPICHOST")], {"topic-host-is-repository"},
    ),
    "many-topic-hosts": ([adding(topic("QM1", "NEWS", "/news"))], {"many-topic-hosts"}),
    "one-topic-host": ([without("topics", qmgr="FR2")], {"one-topic-host"}),
    "few-recent-channels": (
        [setting("queue_managers", {"qmgr": "QM1"}, clwlmruc=2)], {"few-recent-channels"},
    ),
    "netprty-alone": (
        [setting("cluster_channels", {"qmgr": "QM2"}, netprty=4)], {"netprty-alone"},
    ),
}  # fmt: skip

_COMMANDS = {"qmgr": "QM1", "queue": "SYSTEM.CLUSTER.COMMAND.QUEUE"}


def _whole_view(observer: str, *shown: str) -> Change:
    """What a full repository shows of K, and that it is all."""
    rows = [
        rcvr(x, qmtype="REPOS" if x.startswith("FR") else "NORMAL", observer=observer)
        for x in (observer, *shown)
    ]
    view = {"observer": observer, "table": "cluster_channels", "whole": True}
    others = [rcvr(x, "L", observer=observer) for x in (observer, "FR2", "QM1", "QM2")]
    return adding(*rows, *others, ("views", view))


_HEALTH: dict[str, Mutant] = {
    "command-queue-reader": (
        [setting("queue_status", _COMMANDS, ipprocs=0)], {"command-queue-reader"},
    ),
    "command-queue-depth": (
        [setting("queue_status", _COMMANDS, curdepth=8),
         adding(("queue_status_before", {**_COMMANDS, "curdepth": 8}))],
        {"command-queue-depth"},
    ),
    "repository-queue-empty": (
        [setting("queue_status", {"queue": "SYSTEM.CLUSTER.REPOSITORY.QUEUE"}, curdepth=0)],
        {"repository-queue-empty"},
    ),
    "messages-wait": (
        [setting("queue_status", {"queue": "SYSTEM.CLUSTER.TRANSMIT.QUEUE"}, curdepth=12),
         setting("channel_status", {"remote_qmgr": "QM2"}, backlog=9)],
        {"messages-wait"},
    ),
    "refresh-in-texts": (
        [adding(action("QM1", "REFRESH CLUSTER(K) REPOS(NO)"))], {"refresh-in-texts"},
    ),
    "partial-repository-unknown": (
        [_whole_view("FR1", "FR2", "QM1")], {"partial-repository-unknown"},
    ),
    "full-repositories-unseen": (
        [_whole_view("FR1", "QM1", "QM2")], {"full-repositories-unseen"},
    ),
    "sender-to-repository-down": (
        [adding(sender("QM1", "FR1", "RETRYING"))], {"sender-to-repository-down"},
    ),
}  # fmt: skip

_SECURITY: dict[str, Mutant] = {
    "put-to-every-cluster-object": (
        [setting("authorities", {"profile": "SYSTEM.CLUSTER.**"}, authorities="BROWSE,PUT")],
        {"put-to-every-cluster-object"},
    ),
    "profile-without-effect": (
        [adding(authority("FR1", "APP.Q", "app", "GET,PUT"))], {"profile-without-effect"},
    ),
}  # fmt: skip

LINT = _REPOSITORIES | _BALANCING | _HEALTH | _SECURITY
MUTANTS = EXPECTATIONS | REFERENCES | LINT
