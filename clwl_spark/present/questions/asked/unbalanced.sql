-- question: Which queues are not balanced?
-- answers: A line per destination of an object whose shares are more than 5 points from what
--   CLWLWGHT gives; the worst objects first. Where bound_share is high, whole opens or groups
--   choose and not messages (see pinned); otherwise other objects use the same channels' counters,
--   or CLWLMRUC leaves destinations out.
WITH bindings AS (
  SELECT object_type, object_name, object_qmgr,
    sum(bound) / CAST(sum(messages) AS DOUBLE) AS bound_share
  FROM bindings_per_hour
  GROUP BY object_type, object_name, object_qmgr
)
SELECT
  b.object_name,
  b.object_qmgr,
  b.dest_qmgr,
  b.messages,
  b.share,
  b.ideal_share,
  b.largest_deviation,
  b.greatest_to_least,
  t.bound_share
FROM queue_manager_balance AS b
JOIN bindings AS t ON t.object_type = b.object_type AND t.object_name = b.object_name
  AND t.object_qmgr = b.object_qmgr
WHERE b.destinations > 1 AND round(b.largest_deviation, 9) > 0.05
ORDER BY round(b.largest_deviation, 9) DESC, b.object_name, b.object_qmgr, b.object_type,
  b.dest_qmgr
