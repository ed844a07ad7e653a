-- title: Where each object's messages went, snapshot by snapshot
-- row: an object, snapshot and destination queue manager
-- column object_type: QUEUE or TOPIC
-- column object_name: Queue name, or topic string
-- column object_qmgr: Object queue manager; blank = none named
-- column snapshot_id: Snapshot in force at put_time
-- column dest_qmgr: Queue manager it goes to
-- column messages: Routed messages, from all queue managers
-- column share: Of the object's routed messages under that snapshot, 0 to 1
WITH counted AS (
  SELECT object_type, object_name, object_qmgr, snapshot_id, dest_qmgr, count(*) AS messages
  FROM outcomes
  WHERE reason = 0
  GROUP BY object_type, object_name, object_qmgr, snapshot_id, dest_qmgr
)
SELECT
  object_type,
  object_name,
  object_qmgr,
  snapshot_id,
  dest_qmgr,
  messages,
  messages / CAST(
    sum(messages) OVER (PARTITION BY object_type, object_name, object_qmgr, snapshot_id) AS DOUBLE
  ) AS share
FROM counted
