-- question: Which queue managers got nothing though they host the queue?
-- answers: A line per object, queue manager with an instance that got no message, and rule that
--   took its last candidate away, with the messages that were put meanwhile. No rule: it is a
--   route, but the few messages, a binding or CLWLMRUC gave it none.
WITH received AS (
  SELECT object_type, object_name, object_qmgr, dest_qmgr, count(*) AS messages
  FROM outcomes
  WHERE reason = 0
  GROUP BY object_type, object_name, object_qmgr, dest_qmgr
)
SELECT
  h.object_name,
  h.object_qmgr,
  h.dest_qmgr,
  h.rule,
  coalesce(h.rule_name, 'none: it is a route') AS rule_name,
  CAST(sum(h.plan_messages) AS BIGINT) AS messages_put,
  count(DISTINCT h.qmgr) AS putting_queue_managers
FROM host_verdicts AS h
LEFT JOIN received AS r ON r.object_type = h.object_type AND r.object_name = h.object_name
  AND r.object_qmgr = h.object_qmgr AND r.dest_qmgr = h.dest_qmgr
WHERE h.plan_messages > 0 AND r.messages IS NULL
GROUP BY h.object_type, h.object_name, h.object_qmgr, h.dest_qmgr, h.rule, h.rule_name
ORDER BY messages_put DESC, h.object_name, h.object_qmgr, h.object_type, h.dest_qmgr,
  h.rule NULLS LAST
