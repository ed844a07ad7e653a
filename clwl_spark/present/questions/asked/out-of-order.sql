-- question: Which messages came out of order?
-- answers: Messages whose put_seq came after a greater one of their queue manager, so that later
--   puts had chosen before them. Their destination is right for the moment when they came, but
--   it may differ from what the order of puts would have given.
SELECT
  qmgr,
  put_seq,
  put_time,
  object_name,
  object_qmgr,
  dest_qmgr,
  channel,
  hex(message_id) AS message_id
FROM outcomes
WHERE out_of_order
ORDER BY qmgr, put_seq, message_id NULLS LAST, dest_qmgr NULLS LAST, channel NULLS LAST
