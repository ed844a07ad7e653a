-- title: How puts ended, hour by hour
-- row: a putting queue manager, object, hour and reason; reason 0 among them
-- column qmgr: Queue manager where it is put
-- column object_type: QUEUE or TOPIC
-- column object_name: Queue name, or topic string
-- column object_qmgr: Object queue manager; blank = none named
-- column hour: Start of the hour of put_time, UTC
-- column reason: 0, or the MQRC that the put ended with
-- column reason_name: MQ's name of it; null = not one that routing gives
-- column messages: Messages that ended so
-- column share: Of the queue manager's messages to the object in that hour, 0 to 1
-- column first_put: put_time of the first of them
-- column last_put: put_time of the last of them
WITH counted AS (
  SELECT
    qmgr,
    object_type,
    object_name,
    object_qmgr,
    date_trunc('HOUR', put_time) AS hour,
    reason,
    count(*) AS messages,
    min(put_time) AS first_put,
    max(put_time) AS last_put
  FROM outcomes
  GROUP BY qmgr, object_type, object_name, object_qmgr, date_trunc('HOUR', put_time), reason
)
SELECT
  c.qmgr,
  c.object_type,
  c.object_name,
  c.object_qmgr,
  c.hour,
  c.reason,
  n.reason_name,
  c.messages,
  c.messages / CAST(
    sum(c.messages) OVER (
      PARTITION BY c.qmgr, c.object_type, c.object_name, c.object_qmgr, c.hour
    ) AS DOUBLE
  ) AS share,
  c.first_put,
  c.last_put
FROM counted AS c
LEFT JOIN reason_names AS n ON n.reason = c.reason
