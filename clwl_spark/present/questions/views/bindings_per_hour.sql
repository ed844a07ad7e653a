-- title: Messages that made no choice of their own, or came late, hour by hour
-- row: a putting queue manager, object and hour
-- column qmgr: Queue manager where it is put
-- column object_type: QUEUE or TOPIC
-- column object_name: Queue name, or topic string
-- column object_qmgr: Object queue manager; blank = none named
-- column hour: Start of the hour of put_time, UTC
-- column messages: All messages, failed ones among them
-- column bound: Those that followed an earlier message's choice: of their open, or their group
-- column bound_share: bound of messages, 0 to 1
-- column out_of_order: Those whose put_seq came after a greater one
-- column out_of_order_share: out_of_order of messages, 0 to 1
SELECT
  qmgr,
  object_type,
  object_name,
  object_qmgr,
  date_trunc('HOUR', put_time) AS hour,
  count(*) AS messages,
  count(*) FILTER (WHERE bound) AS bound,
  count(*) FILTER (WHERE bound) / CAST(count(*) AS DOUBLE) AS bound_share,
  count(*) FILTER (WHERE out_of_order) AS out_of_order,
  count(*) FILTER (WHERE out_of_order) / CAST(count(*) AS DOUBLE) AS out_of_order_share
FROM outcomes
GROUP BY qmgr, object_type, object_name, object_qmgr, date_trunc('HOUR', put_time)
