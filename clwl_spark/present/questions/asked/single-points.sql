-- question: Which queues hang on one queue manager, and what keeps the others out?
-- answers: Requests with messages that have a single queue manager left, the most messages first.
--   hosts says how many have an instance; a line per other host names the rule that took it away.
--   other_host null: there is no other, so an instance elsewhere is what is missing. With kind
--   QMGR the program, or an alias, names a queue manager.
WITH counted AS (
  SELECT
    plan_id,
    count(*) AS hosts,
    count(*) FILTER (WHERE is_route) AS routes,
    max(CASE WHEN is_route THEN dest_qmgr END) AS only_host
  FROM host_verdicts
  WHERE plan_messages > 0
  GROUP BY plan_id
)
SELECT
  p.qmgr,
  p.object_name,
  p.object_qmgr,
  p.kind,
  p.snapshot_id,
  c.only_host,
  p.messages,
  c.hosts,
  h.dest_qmgr AS other_host,
  h.rule,
  h.rule_name
FROM counted AS c
JOIN plan_traffic AS p ON p.plan_id = c.plan_id
LEFT JOIN host_verdicts AS h ON h.plan_id = c.plan_id AND NOT h.is_route
WHERE c.routes = 1
ORDER BY p.messages DESC, p.qmgr, p.object_name, p.object_qmgr, p.snapshot_id, p.plan_id,
  other_host NULLS LAST
