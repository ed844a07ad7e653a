-- question: Which messages were set aside, and why?
-- answers: Messages that could not be routed at all, by error: NO_SNAPSHOT = put before the first
--   valid snapshot; UNKNOWN_... = a word that MQ does not have; DUPLICATE = delivered again, of which
--   nothing is lost. Correct the others where they come from and append them again with new put_seq.
SELECT
  qmgr,
  error,
  object_name,
  bind,
  count(*) AS messages,
  min(put_seq) AS first_put_seq,
  min(put_time) AS first_put,
  max(put_time) AS last_put
FROM rejected_messages
GROUP BY qmgr, error, object_name, bind
ORDER BY messages DESC, qmgr NULLS LAST, error, object_name NULLS LAST, bind NULLS LAST
