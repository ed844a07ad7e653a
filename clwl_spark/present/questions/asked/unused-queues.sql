-- question: Which cluster queues got no message at all?
-- answers: Cluster queues of the newest valid snapshot that no message was routed to, with how
--   many queue managers host them; SYSTEM queues and queue manager aliases are left out. Either
--   nobody puts to them, or idle-hosts says why their hosts were passed over.
WITH newest AS (
  SELECT snapshot_id
  FROM snapshot_history
  WHERE status = 'VALID' AND valid_until IS NULL
),
hosted AS (
  SELECT q.queue, q.cluster, count(DISTINCT q.qmgr) AS hosts,
    count(DISTINCT CASE WHEN q.put_enabled = false THEN q.qmgr END) AS put_disabled
  FROM queues AS q
  JOIN newest AS n ON n.snapshot_id = q.snapshot_id
  WHERE q.cluster <> '' AND q.queue NOT LIKE 'SYSTEM.%'
    AND NOT (coalesce(q.qtype, 'QLOCAL') = 'QREMOTE' AND coalesce(q.rname, '') = '')
  GROUP BY q.queue, q.cluster
),
used AS (
  -- A topic may have a queue's name, which says nothing of the queue.
  SELECT DISTINCT object_name AS queue
  FROM outcomes
  WHERE reason = 0 AND coalesce(object_type, 'QUEUE') = 'QUEUE'
  UNION
  SELECT DISTINCT dest_object AS queue
  FROM outcomes
  WHERE reason = 0 AND coalesce(object_type, 'QUEUE') = 'QUEUE'
)
SELECT h.queue, h.cluster, h.hosts, h.put_disabled
FROM hosted AS h
LEFT JOIN used AS u ON u.queue = h.queue
WHERE u.queue IS NULL
ORDER BY h.queue, h.cluster
