-- title: Routes of plans, with the share that CLWLWGHT gives them
-- row: a plan and a queue manager that its messages may go to
-- column plan_id: The plan
-- column dest_qmgr: Queue manager
-- column channels: Channels that lead there
-- column ideal_share: Of the plan's messages in the long run, 0 to 1, if each message chooses for
--   itself and no other traffic shares the counters; CLWLMRUC is not counted in
WITH channels AS (
  -- Of several routes over one channel only the first is ever chosen.
  SELECT DISTINCT plan_id, choice, dest_qmgr, channel, clwlwght
  FROM route_candidates
  WHERE eliminated_by IS NULL
),
-- A choice adds 1000 div CLWLWGHT to the channel's counter, and the lowest counter is next.
turns AS (
  SELECT plan_id, choice, dest_qmgr, 1e0 / floor(1000 / coalesce(clwlwght, 50)) AS turns
  FROM channels
),
shares AS (
  SELECT
    plan_id,
    dest_qmgr,
    turns / sum(turns) OVER (PARTITION BY plan_id, choice) AS share
  FROM turns
)
SELECT
  s.plan_id,
  s.dest_qmgr,
  count(*) AS channels,
  sum(s.share) / max(coalesce(p.choices, 1)) AS ideal_share
FROM shares AS s
JOIN route_plans AS p ON p.plan_id = s.plan_id
GROUP BY s.plan_id, s.dest_qmgr
