-- title: How evenly each object's messages are spread
-- row: an object that a choice is made for, and a queue manager that got, or should get, of it
-- column object_type: QUEUE or TOPIC
-- column object_name: Queue name, or topic string
-- column object_qmgr: Object queue manager; blank = none named
-- column dest_qmgr: Destination queue manager
-- column messages: Routed messages that went there, from all queue managers
-- column share: Of the object's routed messages, 0 to 1
-- column ideal_messages: What CLWLWGHT gives it of the messages (plan_routes)
-- column ideal_share: The same, 0 to 1
-- column ratio: messages to ideal_messages; 1 = as the weights say, null = none were due
-- column object_messages: Routed messages of the object
-- column destinations: Queue managers of the object
-- column greatest: Most messages that one of them got
-- column least: Fewest messages that one of them got
-- column greatest_to_least: greatest to least; null = one got none
-- column largest_deviation: Greatest difference between share and ideal_share, 0 to 1
WITH chosen AS (
  SELECT p.object_type, p.object_name, p.object_qmgr, r.dest_qmgr, 0 AS messages,
    p.routed * r.ideal_share AS ideal_messages
  FROM plan_traffic AS p
  JOIN plan_routes AS r ON r.plan_id = p.plan_id
  WHERE p.routed > 0
),
went AS (
  SELECT object_type, object_name, object_qmgr, dest_qmgr, count(*) AS messages,
    0e0 AS ideal_messages
  FROM outcomes
  WHERE reason = 0 AND plan_id IN (SELECT plan_id FROM plan_routes)
  GROUP BY object_type, object_name, object_qmgr, dest_qmgr
),
summed AS (
  SELECT
    object_type,
    object_name,
    object_qmgr,
    dest_qmgr,
    CAST(sum(messages) AS BIGINT) AS messages,
    sum(ideal_messages) AS ideal_messages
  FROM (SELECT * FROM chosen UNION ALL SELECT * FROM went) AS both_sides
  GROUP BY object_type, object_name, object_qmgr, dest_qmgr
),
compared AS (
  SELECT
    object_type,
    object_name,
    object_qmgr,
    dest_qmgr,
    messages,
    ideal_messages,
    CAST(
      sum(messages) OVER (PARTITION BY object_type, object_name, object_qmgr) AS BIGINT
    ) AS object_messages,
    count(*) OVER (PARTITION BY object_type, object_name, object_qmgr) AS destinations,
    max(messages) OVER (PARTITION BY object_type, object_name, object_qmgr) AS greatest,
    min(messages) OVER (PARTITION BY object_type, object_name, object_qmgr) AS least
  FROM summed
)
SELECT
  object_type,
  object_name,
  object_qmgr,
  dest_qmgr,
  messages,
  messages / CAST(object_messages AS DOUBLE) AS share,
  ideal_messages,
  ideal_messages / object_messages AS ideal_share,
  messages / nullif(ideal_messages, 0e0) AS ratio,
  object_messages,
  destinations,
  greatest,
  least,
  greatest / CAST(nullif(least, 0) AS DOUBLE) AS greatest_to_least,
  max(abs(messages - ideal_messages) / object_messages)
    OVER (PARTITION BY object_type, object_name, object_qmgr) AS largest_deviation
FROM compared
