-- question: Where did traffic move when the topology changed?
-- answers: Each object that has messages under a snapshot and under the valid one before it: its
--   share per destination before and after, the greatest change first. Destinations whose share
--   changed by less than 1 point are left out. `clwl diff BEFORE AFTER` says what was changed.
WITH steps AS (
  SELECT snapshot_id, previous_id, valid_from
  FROM snapshot_history
  WHERE previous_id IS NOT NULL
),
sides AS (
  SELECT s.snapshot_id, s.previous_id, s.valid_from, t.object_type, t.object_name, t.object_qmgr,
    t.dest_qmgr, t.share AS share_before, 0e0 AS share_after
  FROM steps AS s
  JOIN share_per_snapshot AS t ON t.snapshot_id = s.previous_id
  UNION ALL
  SELECT s.snapshot_id, s.previous_id, s.valid_from, t.object_type, t.object_name, t.object_qmgr,
    t.dest_qmgr, 0e0 AS share_before, t.share AS share_after
  FROM steps AS s
  JOIN share_per_snapshot AS t ON t.snapshot_id = s.snapshot_id
),
changes AS (
  SELECT snapshot_id, previous_id, valid_from, object_type, object_name, object_qmgr, dest_qmgr,
    sum(share_before) AS share_before, sum(share_after) AS share_after
  FROM sides
  GROUP BY snapshot_id, previous_id, valid_from, object_type, object_name, object_qmgr, dest_qmgr
),
compared AS (
  SELECT *,
    sum(share_before) OVER (PARTITION BY snapshot_id, object_type, object_name, object_qmgr)
      AS all_before,
    sum(share_after) OVER (PARTITION BY snapshot_id, object_type, object_name, object_qmgr)
      AS all_after
  FROM changes
)
SELECT
  valid_from AS changed_at,
  previous_id AS before_it,
  snapshot_id AS after_it,
  object_name,
  object_qmgr,
  dest_qmgr,
  share_before,
  share_after,
  100 * (share_after - share_before) AS points
FROM compared
WHERE all_before > 0 AND all_after > 0 AND round(abs(share_after - share_before), 9) >= 0.01
ORDER BY round(abs(share_after - share_before), 6) DESC, changed_at, after_it, object_name,
  object_qmgr, object_type, dest_qmgr
