"""Texts of tools that count and trace, written for these tests; each whole and usable."""

import json

AMQSMON = """MonitoringType: QueueStatistics
QueueManager: 'QM1'
IntervalStartDate: '2026-09-14'
IntervalStartTime: '10.00.00'
IntervalEndDate: '2026-09-14'
IntervalEndTime: '10.15.00'
CommandLevel: 940
ObjectCount: 2
QueueStatistics: 0
  QueueName: 'ORDERS'
  QueueType: Local
  PutCount: [3, 4]
  Put1Count: [0, 1]
  PutBytes: [300, 400]
QueueStatistics: 1
  QueueName: 'STOCK'
  PutCount: [5, 0]
  Put1Count: [0, 0]

MonitoringType: ChannelStatistics
QueueManager: 'QM1'
IntervalStartDate: '2026-09-14'
IntervalStartTime: '10.00.00'
IntervalEndDate: '2026-09-14'
IntervalEndTime: '10.15.00'
ChannelStatistics: 0
  ChannelName: 'TO.QM2'
  ChannelType: ClusSdr
  RemoteQMgr: 'QM2'
  MsgCount: 7
ChannelStatistics: 1
  ChannelName: 'CLIENTS'
  ChannelType: SvrConn
  MsgCount: 9

MonitoringType: QueueAccounting
QueueManager: 'QM1'
IntervalStartDate: '2026-09-14'
IntervalStartTime: '10.00.00'
IntervalEndDate: '2026-09-14'
IntervalEndTime: '10.30.00'
ConnectionId: x'414d5143'
ApplicationName: 'shop'
UserId: 'alice'
QueueAccounting: 0
  QueueName: 'ORDERS'
  PutCount: [2, 0]
  Put1Count: [0, 0]
QueueAccounting: 1
  QueueName: 'REPLIES'
  PutCount: [0, 0]

MonitoringType: MQIStatistics
QueueManager: 'QM1'
PutCount: [54, 0]
"""


def chstatus(at="2026-09-14T08:00:00Z", messages=100, began="09.00.00", kind="CLUSSDR"):
    return f"""Starting MQSC for queue manager QM1.
     1 : * {at}
     2 : DISPLAY CHSTATUS(*) ALL
AMQ8417I: Display Channel Status details.
   CHANNEL(TO.QM2)                         CHLTYPE({kind})
   CHSTADA(2026-09-14)                     CHSTATI({began})
   CONNAME(127.0.0.1(1414))                CURRENT
   MSGS({messages})                        RQMNAME(QM2)
   STATUS(RUNNING)                         XMITQ(SYSTEM.CLUSTER.TRANSMIT.QUEUE)
One MQSC command read.
"""


def scrape(at="2026-09-14T08:00:00Z", puts=7, sent=100, kind="gauge"):
    labels = 'channel="TO.QM2",connname="127.0.0.1(1414)",jobname="0809",qmgr="QM1",rqmname="QM2"'
    return f"""# {at}
# HELP ibmmq_queue_mqput_mqput1_count Interval MQPUT/MQPUT1 count
# TYPE ibmmq_queue_mqput_mqput1_count {kind}
ibmmq_queue_mqput_mqput1_count{{platform="UNIX",qmgr="QM1",queue="ORDERS"}} {puts}
ibmmq_queue_depth{{platform="UNIX",qmgr="QM1",queue="ORDERS"}} 0
# TYPE ibmmq_channel_messages {kind}
ibmmq_channel_messages{{{labels},type="CLUSSDR"}} {sent}
ibmmq_channel_messages{{{labels},type="SVRCONN"}} 9999
"""


def otlp(value=100, minute=0, form="sum", temporality=2, name="ibmmq.channel.messages"):
    told = {"qmgr": "QM1", "channel": "TO.QM2", "type": "CLUSSDR", "rqmname": "QM2"}
    attributes = [{"key": key, "value": {"stringValue": x}} for key, x in told.items()]
    begin = 1789372800000000000
    point = {
        "attributes": attributes, "startTimeUnixNano": str(begin),
        "timeUnixNano": str(begin + minute * 60 * 10**9), "asInt": str(value),
    }  # fmt: skip
    data = {"dataPoints": [point]}
    if form == "sum":
        data |= {"aggregationTemporality": temporality, "isMonotonic": True}
    return json.dumps(
        {"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": name, form: data}]}]}]}
    )


_WQ_HEAD = "Date,Time,LPAR,QMgr,MQ_Version,Open_Name,Base_Name,Open (DATE),Open (TIME)"
SMF_WQ = f"""{_WQ_HEAD},Close (DATE),Close (TIME),Put_Count,Put1_Count,Get_Count,
"2026/09/14","04:00:18,580000","MPX1","QML1",="940","ORDERS              ",\
"SYSTEM.CLUSTER.TRANSMIT.QUEUE","2026/09/14","08:00:05,559301","2026/09/14","08:00:18,307147",100,1,0,
"2026/09/14","04:00:18,580000","MPX1","QML1",="940","REPLIES             ","REPLIES",\
"2026/09/14","08:00:05,559301","2026/09/14","08:00:18,307147",0,0,102,
"""
SMF_QCST = """Date,Time,LPAR,QMgr,Chl_Name,Type,Start (DATE),Start (TIME),Stop (DATE),Stop (TIME),\
Msg_All_Count,Remote_QMgr_Or_App,
"2026/09/14","04:00:18,580000","MPX1","QML1","TO.QM2              ","ClusSdr","2026/09/14",\
"08:00:00,000000","2026/09/14","08:10:00,000000",42,"QM2      ",
"2026/09/14","04:00:18,580000","MPX1","QML1","CLIENTS             ","SvrConn","2026/09/14",\
"08:00:00,000000","2026/09/14","08:10:00,000000",9,"app",
"""
SMF_JSON = """{
"recordType" : 116,
"recordSubType" : 1,
"structure" : "WQ",
"date": "2026/09/14","time": "04:00:18,580000",
"qmgr": "QML1",
"openName": "ORDERS              ",
"openDate": "2026/09/14","openTime": "08:00:05,559301",
"closeDate": "2026/09/14","closeTime": "08:00:18,307147",
"putCount": 100,
"put1Count": 1
}
{
"recordType" : 116,
"recordSubType" : 1,
"structure" : "WTID",
"qmgr": "QML1",
"mvsUserid": "ALICE"
}
"""
DSPMQRTE = """AMQ8653I: DSPMQRTE command started with options '-m QM1 -q ORDERS -v all'.
AMQ8659I: DSPMQRTE command successfully put a message on queue 'SYSTEM.CLUSTER.TRANSMIT.QUEUE', \
queue manager 'QM1'.
--------------------------------------------------------------------------------
Activity:
 ApplName: 'dspmqrte'

 Operation:
  OperationType: Put
  OperationDate: '2026-09-14'
  OperationTime: '10:00:05.50'

  Message:

   MQMD:
    MsgId: X'0A0B'
    CorrelId: X'0C0D'
  QMgrName: 'QM1                                             '
  QName: 'ORDERS                                          '
  ResolvedQName: 'SYSTEM.CLUSTER.TRANSMIT.QUEUE                   '
  RemoteQName: 'ORDERS                                          '
  RemoteQMgrName: 'QM2                                             '
--------------------------------------------------------------------------------
Activity:
 ApplName: 'amqrmppa'

 Operation:
  OperationType: Get
  QMgrName: 'QM1'
  QName: 'SYSTEM.CLUSTER.TRANSMIT.QUEUE'

 Operation:
  OperationType: Send
  OperationDate: '2026-09-14'
  OperationTime: '10:00:05.51'
  QMgrName: 'QM1'
  RemoteQMgrName: 'QM2'
  ChannelName: 'TO.QM2'
  ChannelType: ClusSdr
  XmitQName: 'SYSTEM.CLUSTER.TRANSMIT.QUEUE'
--------------------------------------------------------------------------------
Activity:
 ApplName: 'amqrmppa'

 Operation:
  OperationType: Receive
  QMgrName: 'QM2'
  ChannelName: 'TO.QM2'

 Operation:
  OperationType: Discard
  OperationDate: '2026-09-14'
  OperationTime: '10:00:05.52'
  QMgrName: 'QM2'
  QName: 'ORDERS'
  Feedback: NotDelivered
--------------------------------------------------------------------------------
AMQ8652I: DSPMQRTE command has finished.
"""


def dspmqrtj(final="QM2", error=None, with_put=True):
    put = {
        "operation": "Put",
        "details": {
            "localQueueManager": "QM1", "objectName": "ORDERS", "objectType": "queue",
            "remoteQueue": "ORDERS", "remoteQueueManager": final,
            "resolvedQueue": "SYSTEM.CLUSTER.TRANSMIT.QUEUE",
        },
    }  # fmt: skip
    send = {
        "operation": "Send", "time": "08:00:05.51", "epochMilliSec": 1789372805510,
        "details": {
            "channelName": f"TO.{final}", "queueManager": "QM1", "remoteQueueManager": final
        },
    }  # fmt: skip
    discard = {
        "operation": "Discard", "epochMilliSec": 1789372805520,
        "details": {"feedback": "NotDelivered", "queue": "ORDERS", "queueManager": final},
    }  # fmt: skip
    summary = {"parameters": "-m QM1 -q ORDERS -msgCount=10", "totalTimeMilliSec": 1}
    if error:
        return {"summary": summary, "error": {"mqcc": 2, "mqrc": error}}
    operations = [put, send, discard] if with_put else [send]
    activities = [{"applName": "dspmqrtj", "operations": [x]} for x in operations]
    return {
        "summary": {**summary, "channelCount": 1, "finalQueueManager": final},
        "activities": activities,
    }


ALL = {
    "amqsmon": AMQSMON,
    "CHSTATUS": chstatus(),
    "scrape": scrape(),
    "OTLP metrics": otlp(),
    "SMF WQ": SMF_WQ,
    "SMF QCST": SMF_QCST,
    "SMF JSON": SMF_JSON,
    "dspmqrte": DSPMQRTE,
    "dspmqrtj": json.dumps(dspmqrtj(), indent=1),
}
