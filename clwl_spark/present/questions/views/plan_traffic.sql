-- title: Plans, with the messages that they answered
-- row: a plan (route_plans): a distinct request in a snapshot
-- column plan_id: The plan
-- column snapshot_id: Snapshot of the request
-- column qmgr: Queue manager where it is put
-- column object_type: QUEUE or TOPIC
-- column object_name: Queue name, or topic string
-- column object_qmgr: Object queue manager; blank = none named
-- column via: LOCAL = by an application, CLUSTER = over a cluster channel
-- column kind: What is chosen
-- column resolved_object: Object after name resolution
-- column choices: Choices a message makes: copies of a publication, else 1
-- column messages: Outcomes of the plan; each copy of a publication counts
-- column routed: Those with reason 0
-- column failed: Those with another reason
-- column bound: Those that followed an earlier message's choice
-- column first_put: put_time of the first; null = no message
-- column last_put: put_time of the last
WITH counted AS (
  SELECT
    plan_id,
    count(*) AS messages,
    count(*) FILTER (WHERE reason = 0) AS routed,
    count(*) FILTER (WHERE reason <> 0) AS failed,
    count(*) FILTER (WHERE bound) AS bound,
    min(put_time) AS first_put,
    max(put_time) AS last_put
  FROM outcomes
  GROUP BY plan_id
)
SELECT
  p.plan_id,
  p.snapshot_id,
  p.qmgr,
  p.object_type,
  p.object_name,
  p.object_qmgr,
  p.via,
  p.kind,
  p.resolved_object,
  coalesce(p.choices, 1) AS choices,
  coalesce(t.messages, 0) AS messages,
  coalesce(t.routed, 0) AS routed,
  coalesce(t.failed, 0) AS failed,
  coalesce(t.bound, 0) AS bound,
  t.first_put,
  t.last_put
FROM route_plans AS p
LEFT JOIN counted AS t ON t.plan_id = p.plan_id
