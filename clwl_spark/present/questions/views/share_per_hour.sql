-- title: Where each object's messages went, hour by hour
-- row: an object, hour, destination queue manager and channel
-- column object_type: QUEUE or TOPIC
-- column object_name: Queue name, or topic string
-- column object_qmgr: Object queue manager; blank = none named
-- column hour: Start of the hour of put_time, UTC
-- column dest_qmgr: Queue manager it goes to
-- column channel: Channel; null = local, or a transmission queue named by definition
-- column messages: Routed messages, from all queue managers
-- column share: Of the object's routed messages in that hour, 0 to 1
WITH counted AS (
  SELECT
    object_type,
    object_name,
    object_qmgr,
    date_trunc('HOUR', put_time) AS hour,
    dest_qmgr,
    channel,
    count(*) AS messages
  FROM outcomes
  WHERE reason = 0
  GROUP BY object_type, object_name, object_qmgr, date_trunc('HOUR', put_time), dest_qmgr, channel
)
SELECT
  object_type,
  object_name,
  object_qmgr,
  hour,
  dest_qmgr,
  channel,
  messages,
  messages / CAST(
    sum(messages) OVER (PARTITION BY object_type, object_name, object_qmgr, hour) AS DOUBLE
  ) AS share
FROM counted
