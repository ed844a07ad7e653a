-- question: Which snapshot was in force when, and did more messages fail under it?
-- answers: A line per snapshot in order of time. points is what failed_share changed by, in
--   percentage points, against the valid snapshot before it; resets counts queue managers that
--   began to balance anew.
SELECT
  s.snapshot_id,
  s.status,
  s.valid_from,
  s.valid_until,
  s.messages,
  s.failed,
  s.failed_share,
  100 * (s.failed_share - b.failed_share) AS points,
  s.resets
FROM snapshot_history AS s
LEFT JOIN snapshot_history AS b ON b.snapshot_id = s.previous_id
ORDER BY s.valid_from NULLS LAST, s.snapshot_id
