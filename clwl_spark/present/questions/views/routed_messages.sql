-- title: Messages that were routed, for readers
-- row: a routed message; a copy of a publication with CLROUTE(DIRECT)
-- column qmgr: Queue manager where it was put
-- column put_seq: Of the message
-- column message_id: Its 24 bytes as hexadecimal digits, as MQ's tools show them
-- column put_time: Of the message
-- column object_type: QUEUE or TOPIC
-- column object_name: Queue name, or topic string
-- column object_qmgr: Object queue manager; blank = none named
-- column snapshot_id: Snapshot in force at put_time
-- column reason: 0, or the MQRC that the put ended with
-- column reason_name: MQ's name of it
-- column dest_qmgr: Queue manager it goes to; null = reason is not 0
-- column dest_object: Object it goes to
-- column channel: Channel; null = local, or a transmission queue named by definition
-- column cluster: Cluster of the route
-- column xmitq: Transmission queue it waits on; null = local
-- column is_local: It stays on qmgr
-- column bound: It followed an earlier message's choice
-- column out_of_order: Its put_seq came after a greater one
SELECT
  o.qmgr,
  o.put_seq,
  hex(o.message_id) AS message_id,
  o.put_time,
  o.object_type,
  o.object_name,
  o.object_qmgr,
  o.snapshot_id,
  o.reason,
  n.reason_name,
  o.dest_qmgr,
  o.dest_object,
  o.channel,
  o.cluster,
  o.xmitq,
  o.is_local,
  o.bound,
  o.out_of_order
FROM outcomes AS o
LEFT JOIN reason_names AS n ON n.reason = o.reason
