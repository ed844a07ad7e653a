import json

from mq.mqsc_texts import one

from clwl_spark.mq import read_text


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
