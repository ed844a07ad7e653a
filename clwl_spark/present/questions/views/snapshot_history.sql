-- title: Snapshots one after another, and what was routed under each
-- row: a snapshot
-- column snapshot_id: Name of the snapshot
-- column status: VALID = routing uses it; QUARANTINED = a gate refused it
-- column valid_from: In force from this moment
-- column valid_until: Until the next valid one; null = still in force, or not valid
-- column previous_id: The valid snapshot before it; null = none, or not valid
-- column messages: Messages routed under it
-- column failed: Those that ended with an MQRC
-- column failed_share: failed of messages, 0 to 1; null = no messages
-- column resets: Queue managers whose balancing history was reset when it came into force
-- column first_put: put_time of the first message under it
-- column last_put: put_time of the last message under it
WITH ordered AS (
  SELECT
    snapshot_id,
    lead(valid_from) OVER (ORDER BY valid_from, snapshot_id) AS valid_until,
    lag(snapshot_id) OVER (ORDER BY valid_from, snapshot_id) AS previous_id
  FROM snapshots
  WHERE status = 'VALID'
),
resets AS (
  -- A pair counts only while the two are neighbours: a snapshot may have come between them.
  SELECT r.snapshot_id, count(*) AS resets
  FROM snapshot_resets AS r
  JOIN ordered AS v ON v.snapshot_id = r.snapshot_id AND v.previous_id = r.previous_id
  WHERE r.is_reset
  GROUP BY r.snapshot_id
),
counted AS (
  SELECT
    snapshot_id,
    count(*) AS messages,
    count(*) FILTER (WHERE reason <> 0) AS failed,
    min(put_time) AS first_put,
    max(put_time) AS last_put
  FROM outcomes
  GROUP BY snapshot_id
)
SELECT
  s.snapshot_id,
  s.status,
  s.valid_from,
  v.valid_until,
  v.previous_id,
  coalesce(t.messages, 0) AS messages,
  coalesce(t.failed, 0) AS failed,
  t.failed / CAST(t.messages AS DOUBLE) AS failed_share,
  coalesce(r.resets, 0) AS resets,
  t.first_put,
  t.last_put
FROM snapshots AS s
LEFT JOIN ordered AS v ON v.snapshot_id = s.snapshot_id
LEFT JOIN resets AS r ON r.snapshot_id = s.snapshot_id
LEFT JOIN counted AS t ON t.snapshot_id = s.snapshot_id
