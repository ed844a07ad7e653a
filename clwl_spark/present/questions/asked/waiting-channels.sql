-- question: Which messages were routed to a channel that is down?
-- answers: Channels that have messages though their status, as seen on the sending queue manager
--   in that snapshot, is RETRYING or worse: the messages wait on xmitq. Rank is looked
--   at before the status; `clwl explain` shows whether it kept the others out.
SELECT
  o.snapshot_id,
  o.qmgr,
  o.channel,
  s.status,
  o.dest_qmgr,
  o.xmitq,
  count(*) AS messages,
  count(*) FILTER (WHERE o.bound) AS bound,
  min(o.put_time) AS first_put,
  max(o.put_time) AS last_put
FROM outcomes AS o
JOIN channel_status AS s ON s.snapshot_id = o.snapshot_id AND s.qmgr = o.qmgr
  AND s.channel = o.channel AND s.remote_qmgr = o.dest_qmgr AND s.chltype = 'CLUSSDR'
WHERE o.reason = 0 AND s.status IN ('RETRYING', 'REQUESTING', 'PAUSED', 'STOPPED', 'SWITCHING')
GROUP BY o.snapshot_id, o.qmgr, o.channel, s.status, o.dest_qmgr, o.xmitq
ORDER BY messages DESC, o.snapshot_id, o.qmgr, o.channel, o.dest_qmgr, o.xmitq NULLS LAST
