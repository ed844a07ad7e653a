-- question: Why did messages fail, and since when?
-- answers: A line per putting queue manager, object and MQRC, the most messages first. first_put
--   is since when; where last_good_put is later than last_put, it has got better.
--   failed_share is of the queue manager's messages to that object.
WITH puts AS (
  SELECT
    qmgr,
    object_type,
    object_name,
    object_qmgr,
    sum(messages) AS messages,
    max(CASE WHEN reason = 0 THEN last_put END) AS last_good_put
  FROM reasons_per_hour
  GROUP BY qmgr, object_type, object_name, object_qmgr
),
failing AS (
  SELECT
    qmgr,
    object_type,
    object_name,
    object_qmgr,
    reason,
    reason_name,
    CAST(sum(messages) AS BIGINT) AS failed,
    min(first_put) AS first_put,
    max(last_put) AS last_put
  FROM reasons_per_hour
  WHERE reason <> 0
  GROUP BY qmgr, object_type, object_name, object_qmgr, reason, reason_name
)
SELECT
  f.qmgr,
  f.object_name,
  f.object_qmgr,
  f.reason,
  f.reason_name,
  f.failed,
  f.failed / CAST(p.messages AS DOUBLE) AS failed_share,
  f.first_put,
  f.last_put,
  p.last_good_put
FROM failing AS f
JOIN puts AS p ON p.qmgr = f.qmgr AND p.object_type = f.object_type
  AND p.object_name = f.object_name AND p.object_qmgr = f.object_qmgr
ORDER BY f.failed DESC, f.qmgr, f.object_name, f.object_qmgr, f.object_type, f.reason
