import json

from mq.mqsc_texts import one
from readings import read_text


def test_an_answer_of_the_rest_interface():
    queue_a = {"queue": "A", "type": "QLOCAL", "clusnl": "N", "clwlprty": 3}
    manager = {"clusqmgr": "QM2", "channel": "C", "cluster": "K", "status": "RUNNING"}
    status = {"channel": "C", "chltype": "CLUSSDR", "rqmname": "QM2", "status": "RUNNING"}
    found = [
        {"qmname": "QM1", "clwluseq": "ANY"},
        {"namelist": "N", "names": ["K", "low"]},
        queue_a,
        manager,
        status,
    ]
    items = [{"completionCode": 0, "parameters": parameters} for parameters in found]
    items.append({"completionCode": 2, "reasonCode": 2085, "parameters": {}})
    reading = read_text(json.dumps({"commandResponse": items}, indent=1), "answer.json")
    assert [(row["cluster"], row["clwlprty"]) for row in reading.rows["queues"]] == [
        ("K", 3),
        ("low", 3),
    ]
    assert one(reading, "cluster_channels")["observer"] == "QM1"
    assert one(reading, "channel_status")["remote_qmgr"] == "QM2"
    assert reading.rejects == []
    assert read_text('{"a": 1}', "x.json").rows["queues"] == []


RESOURCE = {
    "name": "A",
    "type": "local",
    "cluster": {
        "name": "K", "workloadPriority": 4, "workloadRank": 0, "workloadQueueUse": "asQmgr",
        "namelist": "", "transmissionQueueForChannelName": "TO.*",
    },
    "general": {"inhibitPut": True, "isTransmissionQueue": True},
    "applicationDefaults": {"clusterBind": "notFixed"},
    "timestamps": {"altered": "2026-01-02T03:04:05.000Z"},
}  # fmt: skip


def test_a_queue_resource_is_a_definition():
    reading = read_text(json.dumps({"queue": [RESOURCE]}), "queues.json", "QM1")
    row = one(reading, "queues")
    assert (row["qtype"], row["cluster"], row["put_enabled"]) == ("QLOCAL", "K", False)
    assert (row["clwlprty"], row["clwluseq"], row["defbind"]) == (4, "QMGR", "NOTFIXED")
    assert (row["usage"], row["clchname"]) == ("XMITQ", "TO.*")
    assert reading.altered["queues"][0] == "2026-01-02 03.04.05"


def test_a_cluster_queue_resource_is_a_view():
    cluster = {"name": "K", "qmgrName": "QM2", "queueType": "alias"}
    item = {"name": "A", "type": "cluster", "cluster": cluster}
    row = one(read_text(json.dumps({"queue": [item]}), "x", "QM1"), "queues")
    assert (row["observer"], row["qmgr"], row["qtype"]) == ("QM1", "QM2", "QALIAS")


def test_a_channel_resource_gives_definition_and_status():
    channel = {
        "name": "TO.QM1",
        "type": "clusterReceiver",
        "clusterReceiver": {"clusterName": "K", "connection": [{"host": "h", "port": 1414}]},
        "clusterRouting": {"networkPriority": 2, "workloadWeight": 60},
        "currentStatus": [{"state": "running", "partner": {"qmgrName": "QM2"}}],
    }
    text = json.dumps({"channel": [channel, {"name": "C", "type": "clientConnection"}]})
    reading = read_text(text, "x", "QM1")
    row = one(reading, "cluster_channels")
    assert (row["conname"], row["netprty"], row["clwlwght"]) == ("h(1414)", 2, 60)
    status = one(reading, "channel_status")
    assert (status["chltype"], status["remote_qmgr"], status["status"]) == (
        "CLUSRCVR", "QM2", "RUNNING",
    )  # fmt: skip


def test_a_queue_manager_resource_names_the_queue_manager():
    text = json.dumps({"qmgr": [{"name": "QM9", "state": "running"}]}) + "\n"
    reading = read_text(text + json.dumps({"queue": [RESOURCE]}), "x")
    assert reading.qmgrs == ("QM9",)
    assert reading.rows["queue_managers"] == []


def test_displayed_rows_one_a_line_and_a_broken_one_among_them():
    lines = [
        '{"qmgr": "QM1", "queue": "A", "type": "QLOCAL", "cluster": " "}',
        '{"QUEUE": "B", "TYPE": "QALIAS", "TARGQ": "A", "CLUSTER": " "}',
        '{"QUEUE": "C", "TYPE": ',
        '{"CLUSQMGR": "QM2", "CHANNEL": "TO.QM2", "CLUSTER": "K", "DEFTYPE": "CLUSSDRA"}',
        '{"COLOUR": "RED"}',
    ]
    reading = read_text("\n".join(lines), "rows.jsonl")
    assert [(row["queue"], row["source"]) for row in reading.rows["queues"]] == [
        ("A", "rows.jsonl:1"), ("B", "rows.jsonl:2"),
    ]  # fmt: skip
    assert one(reading, "cluster_channels")["observer"] == "QM1"
    assert [reject.line for reject in reading.rejects] == [3, 5]


def test_an_answer_that_breaks_off_gives_its_whole_items():
    items = [{"completionCode": 0, "parameters": {"queue": q, "type": "QLOCAL"}} for q in "AB"]
    text = json.dumps({"commandResponse": items}, indent=1)
    reading = read_text(text[: text.index('"B"')], "x", "QM1")
    assert one(reading, "queues")["queue"] == "A"
    assert "breaks off" in reading.rejects[0].reason


def test_an_answer_in_runmqscs_own_words():
    texts = [
        "AMQ8408I: Display Queue Manager details.   QMNAME(QM1)   REPOS(K)",
        "AMQ8409I: Display Queue details.   QUEUE(A)   TYPE(QLOCAL)   CLUSTER(K)",
    ]
    items = [{"completionCode": 0, "reasonCode": 0, "text": [text]} for text in texts]
    reading = read_text(json.dumps({"commandResponse": items}), "x")
    assert reading.qmgrs == ("QM1",)
    assert one(reading, "queues")["cluster"] == "K"


def test_an_answer_among_other_text_belongs_to_the_queue_manager_of_its_address():
    shown = {"queue": "A", "type": "QLOCAL", "cluster": ""}
    answer = {"commandResponse": [{"parameters": shown}]}
    text = (
        "$ curl -k https://h:9443/ibmmq/rest/v2/admin/action/qmgr/QM1/mqsc\n"
        + json.dumps(answer, indent=1)
        + "\nDone.\n"
    )
    reading = read_text(text, "log")
    assert (reading.qmgrs, one(reading, "queues")["source"]) == (("QM1",), "log:4")


def test_statuses_and_objects_of_other_kinds_give_nothing():
    rows = [
        {"queue": "A", "type": "QUEUE", "msgage": 3},
        {"conn": "414D", "channel": "C"},
        {"chlauth": "C", "type": "BLOCKUSER"},
        {"qmname": "QM1", "status": "RUNNING"},
    ]
    text = json.dumps({"commandResponse": [{"parameters": row} for row in rows]})
    reading = read_text(text, "x")
    assert not any(reading.rows.values())
    assert reading.rejects == []


def test_an_answer_tells_backlogs_and_scopes():
    found = [
        {"qmname": "QM1"},
        {"channel": "C", "chltype": "CLUSSDR", "rqmname": "QM2", "status": "RUNNING", "xqmsgsa": 0},
        {
            "topic": "T",
            "topicstr": "a/b",
            "cluster": "",
            "pubscope": "QMGR",
            "subscope": "ASPARENT",
        },
        {"sub": "S", "topicstr": "a/#", "dest": "Q", "subtype": "ADMIN", "subscope": "ALL"},
    ]
    items = [{"completionCode": 0, "parameters": parameters} for parameters in found]
    reading = read_text(json.dumps({"commandResponse": items}), "answer.json")
    topic = one(reading, "topics")
    assert (topic["pub_scope"], topic["sub_scope"]) == ("QMGR", None)
    assert one(reading, "channel_status")["backlog"] == 0
    assert one(reading, "subscriptions")["sub_scope"] == "ALL"
    assert reading.rejects == []
