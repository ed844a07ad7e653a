-- question: Where did traffic move when the topology changed?
-- answers: Each object that has messages under a valid snapshot and under an earlier one, the last
--   under which it has any: its share per destination before and after, the greatest change first.
--   Destinations whose share changed by less than 1 point are left out. `clwl diff BEFORE AFTER`
--   says what was changed.
WITH stepped AS (
  SELECT t.object_type, t.object_name, t.object_qmgr, t.dest_qmgr, t.share, t.snapshot_id,
    h.valid_from,
    dense_rank() OVER (
      PARTITION BY t.object_type, t.object_name, t.object_qmgr
      ORDER BY h.valid_from, t.snapshot_id
    ) AS step
  FROM share_per_snapshot AS t
  JOIN snapshot_history AS h ON h.snapshot_id = t.snapshot_id
  WHERE h.status = 'VALID'
),
sides AS (
  SELECT object_type, object_name, object_qmgr, dest_qmgr, step + 1 AS step, snapshot_id,
    valid_from, share AS share_before, 0e0 AS share_after, FALSE AS is_after
  FROM stepped
  UNION ALL
  SELECT object_type, object_name, object_qmgr, dest_qmgr, step, snapshot_id,
    valid_from, 0e0 AS share_before, share AS share_after, TRUE AS is_after
  FROM stepped
),
named AS (
  SELECT object_type, object_name, object_qmgr, dest_qmgr, share_before, share_after,
    max(CASE WHEN is_after THEN valid_from END)
      OVER (PARTITION BY object_type, object_name, object_qmgr, step) AS changed_at,
    max(CASE WHEN NOT is_after THEN snapshot_id END)
      OVER (PARTITION BY object_type, object_name, object_qmgr, step) AS before_it,
    max(CASE WHEN is_after THEN snapshot_id END)
      OVER (PARTITION BY object_type, object_name, object_qmgr, step) AS after_it
  FROM sides
),
changes AS (
  SELECT changed_at, before_it, after_it, object_type, object_name, object_qmgr, dest_qmgr,
    sum(share_before) AS share_before, sum(share_after) AS share_after
  FROM named
  WHERE before_it IS NOT NULL AND after_it IS NOT NULL
  GROUP BY changed_at, before_it, after_it, object_type, object_name, object_qmgr, dest_qmgr
)
SELECT
  changed_at,
  before_it,
  after_it,
  object_name,
  object_qmgr,
  dest_qmgr,
  share_before,
  share_after,
  100 * (share_after - share_before) AS points
FROM changes
WHERE round(abs(share_after - share_before), 9) >= 0.01
ORDER BY round(abs(share_after - share_before), 6) DESC, changed_at, after_it, object_name,
  object_qmgr, object_type, dest_qmgr
