-- title: What each channel carries, hour by hour
-- row: a sending queue manager, channel, destination queue manager and hour
-- column qmgr: Queue manager that sends
-- column channel: Channel
-- column dest_qmgr: Queue manager that the channel leads to
-- column hour: Start of the hour of put_time, UTC
-- column messages: Messages over the channel
-- column share: Of all messages that qmgr routed in that hour, local ones among them, 0 to 1
-- column sized: Messages whose length is known
-- column bytes: Their msg_length, summed; null = no length is known
WITH lengths AS (
  -- A message that is there twice must not count twice.
  SELECT qmgr, put_seq, max(msg_length) AS msg_length
  FROM messages
  WHERE msg_length IS NOT NULL
  GROUP BY qmgr, put_seq
),
counted AS (
  SELECT
    o.qmgr,
    o.channel,
    o.dest_qmgr,
    date_trunc('HOUR', o.put_time) AS hour,
    count(*) AS messages,
    count(l.msg_length) AS sized,
    CAST(sum(CAST(l.msg_length AS BIGINT)) AS BIGINT) AS bytes
  FROM outcomes AS o
  LEFT JOIN lengths AS l ON l.qmgr = o.qmgr AND l.put_seq = o.put_seq
  WHERE o.reason = 0
  GROUP BY o.qmgr, o.channel, o.dest_qmgr, date_trunc('HOUR', o.put_time)
),
shared AS (
  SELECT
    qmgr,
    channel,
    dest_qmgr,
    hour,
    messages,
    messages / CAST(sum(messages) OVER (PARTITION BY qmgr, hour) AS DOUBLE) AS share,
    sized,
    bytes
  FROM counted
)
SELECT qmgr, channel, dest_qmgr, hour, messages, share, sized, bytes
FROM shared
WHERE channel IS NOT NULL
