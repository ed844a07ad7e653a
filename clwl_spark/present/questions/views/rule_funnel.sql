-- title: What each rule takes away from each plan, in the order of the rules
-- row: a plan and a rule that eliminated candidates of it; and a last row for its routes
-- column plan_id: The plan
-- column snapshot_id: Snapshot of the request
-- column qmgr: Queue manager where it is put
-- column object_type: QUEUE or TOPIC
-- column object_name: Queue name, or topic string
-- column object_qmgr: Object queue manager; blank = none named
-- column place: The rule's place in the lake's order; 99 = the routes that are left
-- column rule: Number of the rule; null = the routes that are left
-- column rule_name: What the rule looks at
-- column candidates: Candidates that came to the rule, all copies of a publication together
-- column eliminated: Candidates that it eliminated; 0 for the routes
-- column candidates_left: Candidates after it
-- column is_deciding: It is the last of the plan's rules that eliminated any; 1, 2 and 0 aside,
--   which sort out clusters
-- column messages: Messages of the plan
-- column eliminated_messages: eliminated times messages: the rule's weight in the traffic
WITH verdicts AS (
  SELECT
    c.plan_id,
    coalesce(l.place, 99) AS place,
    c.eliminated_by AS rule,
    coalesce(l.rule_name, 'routes') AS rule_name,
    count(*) AS rows_here
  FROM route_candidates AS c
  LEFT JOIN ladder AS l ON l.rule = c.eliminated_by
  GROUP BY c.plan_id, coalesce(l.place, 99), c.eliminated_by, coalesce(l.rule_name, 'routes')
),
falling AS (
  SELECT
    plan_id,
    place,
    rule,
    rule_name,
    CASE WHEN rule IS NULL THEN 0 ELSE rows_here END AS eliminated,
    CAST(sum(rows_here) OVER (PARTITION BY plan_id ORDER BY place DESC) AS BIGINT) AS candidates,
    max(CASE WHEN rule NOT IN (0, 1, 2) THEN place END) OVER (PARTITION BY plan_id)
      AS deciding_place
  FROM verdicts
)
SELECT
  f.plan_id,
  p.snapshot_id,
  p.qmgr,
  p.object_type,
  p.object_name,
  p.object_qmgr,
  f.place,
  f.rule,
  f.rule_name,
  f.candidates,
  f.eliminated,
  f.candidates - f.eliminated AS candidates_left,
  coalesce(f.place = f.deciding_place, false) AS is_deciding,
  p.messages,
  f.eliminated * p.messages AS eliminated_messages
FROM falling AS f
JOIN plan_traffic AS p ON p.plan_id = f.plan_id
