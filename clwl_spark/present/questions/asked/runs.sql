-- question: How fast was routing, and what did each run bring?
-- answers: A line per run, the newest first. A run without seconds is at work, or was killed: the
--   next `clwl route` goes on with it.
SELECT
  started_at,
  status,
  algorithm,
  messages,
  outcomes,
  rejected,
  out_of_order,
  seconds,
  messages / nullif(seconds, 0e0) AS messages_per_second,
  worker_peak_mib
FROM runs
ORDER BY batch_id DESC, started_at DESC
