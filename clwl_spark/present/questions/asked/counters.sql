-- question: How far do the balancing counters of a queue manager's channels differ?
-- answers: The history after the last batch. Channels of weight 50 are taken in turn by
--   dest_seq_number, the lowest next; with other weights dest_seq_factor decides. behind is how
--   far a channel is below the queue manager's greatest number: the more, the longer it was not
--   chosen. messages are those routed over it so far.
WITH carried AS (
  SELECT qmgr, dest_qmgr, channel, CAST(sum(messages) AS BIGINT) AS messages
  FROM channel_load
  GROUP BY qmgr, dest_qmgr, channel
)
SELECT
  b.qmgr,
  b.channel,
  b.dest_qmgr,
  b.dest_seq_number,
  b.dest_seq_factor,
  max(b.dest_seq_number) OVER (PARTITION BY b.qmgr) - b.dest_seq_number AS behind,
  coalesce(c.messages, 0) AS messages
FROM balance_history AS b
LEFT JOIN carried AS c ON c.qmgr = b.qmgr AND c.dest_qmgr = b.dest_qmgr
  AND c.channel = b.channel
ORDER BY b.qmgr, behind DESC, b.channel, b.dest_qmgr
