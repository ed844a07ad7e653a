-- title: What became of each queue manager that hosts what is asked for
-- row: a plan, and a queue manager with an instance of its object
-- column plan_id: The plan
-- column snapshot_id: Snapshot of the request
-- column qmgr: Queue manager where it is put
-- column object_type: QUEUE or TOPIC
-- column object_name: Queue name, or topic string
-- column object_qmgr: Object queue manager; blank = none named
-- column dest_qmgr: Queue manager with an instance
-- column is_route: Messages may go there
-- column rule: Rule that took its last candidate away; null = is_route
-- column rule_name: What that rule looks at
-- column plan_messages: Messages of the plan
-- column messages: Those of them that went to dest_qmgr
WITH hosts AS (
  SELECT
    c.plan_id,
    c.dest_qmgr,
    count(*) FILTER (WHERE c.eliminated_by IS NULL) > 0 AS is_route,
    max(l.place) AS last_place
  FROM route_candidates AS c
  LEFT JOIN ladder AS l ON l.rule = c.eliminated_by
  GROUP BY c.plan_id, c.dest_qmgr
),
received AS (
  SELECT plan_id, dest_qmgr, count(*) AS messages
  FROM outcomes
  WHERE reason = 0
  GROUP BY plan_id, dest_qmgr
)
SELECT
  h.plan_id,
  p.snapshot_id,
  p.qmgr,
  p.object_type,
  p.object_name,
  p.object_qmgr,
  h.dest_qmgr,
  h.is_route,
  l.rule,
  l.rule_name,
  p.messages AS plan_messages,
  coalesce(r.messages, 0) AS messages
FROM hosts AS h
JOIN plan_traffic AS p ON p.plan_id = h.plan_id
LEFT JOIN ladder AS l ON l.place = h.last_place AND NOT h.is_route
LEFT JOIN received AS r ON r.plan_id = h.plan_id AND r.dest_qmgr = h.dest_qmgr
