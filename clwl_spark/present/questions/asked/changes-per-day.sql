-- question: How much was changed, day by day?
-- answers: A line per day (UTC) on which something was. snapshots are the valid ones that came into
--   force; created, changed and deleted are objects that configuration events tell of.
WITH told AS (
  SELECT date_trunc('DAY', valid_from) AS day, 'SNAPSHOT' AS change
  FROM snapshots
  WHERE status = 'VALID' AND valid_from IS NOT NULL
  UNION ALL
  SELECT date_trunc('DAY', e.at) AS day, e.change
  FROM config_events AS e
)
SELECT
  day,
  count(*) FILTER (WHERE change = 'SNAPSHOT') AS snapshots,
  count(*) FILTER (WHERE change = 'CREATED') AS created,
  count(*) FILTER (WHERE change = 'CHANGED') AS changed,
  count(*) FILTER (WHERE change = 'DELETED') AS deleted
FROM told
GROUP BY day
ORDER BY day
