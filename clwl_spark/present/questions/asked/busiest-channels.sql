-- question: Which channel carries most, and at which hour?
-- answers: A line per channel of a sending queue manager, the most messages first, with its
--   busiest hour (the first of several) and what it carried then. bytes counts only messages whose
--   length is known; average_bytes is of those.
WITH numbered AS (
  SELECT
    qmgr,
    channel,
    dest_qmgr,
    hour,
    messages,
    sized,
    bytes,
    row_number() OVER (
      PARTITION BY qmgr, channel, dest_qmgr ORDER BY messages DESC, hour
    ) AS busiest
  FROM channel_load
)
SELECT
  qmgr,
  channel,
  dest_qmgr,
  CAST(sum(messages) AS BIGINT) AS messages,
  CAST(sum(bytes) AS BIGINT) AS bytes,
  sum(bytes) / CAST(nullif(sum(sized), 0) AS DOUBLE) AS average_bytes,
  max(CASE WHEN busiest = 1 THEN hour END) AS busiest_hour,
  max(CASE WHEN busiest = 1 THEN messages END) AS messages_in_it,
  max(CASE WHEN busiest = 1 THEN bytes END) AS bytes_in_it
FROM numbered
GROUP BY qmgr, channel, dest_qmgr
ORDER BY messages DESC, qmgr, channel, dest_qmgr
