-- question: Which queues does binding keep from being balanced message by message?
-- answers: Objects with several destinations whose messages followed an earlier choice, of their
--   open (BIND_ON_OPEN) or of their group, the most such messages first. messages_per_choice says
--   how coarse the balancing is; DEFBIND(NOTFIXED) lets each message choose. Messages put ON_OPEN
--   without an open_id are opens of their own, and not here (column own_opens of runs counts them).
WITH spread AS (
  SELECT object_type, object_name, object_qmgr, max(destinations) AS destinations,
    max(largest_deviation) AS largest_deviation
  FROM queue_manager_balance
  GROUP BY object_type, object_name, object_qmgr
),
bindings AS (
  SELECT qmgr, object_type, object_name, object_qmgr, CAST(sum(messages) AS BIGINT) AS messages,
    CAST(sum(bound) AS BIGINT) AS bound
  FROM bindings_per_hour
  GROUP BY qmgr, object_type, object_name, object_qmgr
)
SELECT
  b.qmgr,
  b.object_name,
  b.object_qmgr,
  s.destinations,
  b.messages,
  b.bound,
  b.bound / CAST(b.messages AS DOUBLE) AS bound_share,
  b.messages / CAST(nullif(b.messages - b.bound, 0) AS DOUBLE) AS messages_per_choice,
  s.largest_deviation
FROM bindings AS b
JOIN spread AS s ON s.object_type = b.object_type AND s.object_name = b.object_name
  AND s.object_qmgr = b.object_qmgr
WHERE b.bound > 0 AND s.destinations > 1
ORDER BY b.bound DESC, b.qmgr, b.object_name, b.object_qmgr, b.object_type
