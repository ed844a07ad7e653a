-- question: Which rule decides most of the traffic?
-- answers: For each plan the last rule that eliminated a candidate decides, but for rules 1, 2
--   and 0, which sort out clusters. A line per rule: plans and messages that it decided (share is
--   of all messages with candidates; each copy of a publication counts), and what it eliminated,
--   times the messages. "none" are plans of which every candidate in the right cluster is a route.
WITH plans AS (
  SELECT
    plan_id,
    max(messages) AS messages,
    max(CASE WHEN is_deciding THEN place END) AS place
  FROM rule_funnel
  GROUP BY plan_id
),
decided AS (
  SELECT place, count(*) AS plans, CAST(sum(messages) AS BIGINT) AS messages
  FROM plans
  GROUP BY place
),
taken AS (
  SELECT
    place,
    CAST(sum(eliminated) AS BIGINT) AS eliminated,
    CAST(sum(eliminated_messages) AS BIGINT) AS eliminated_messages
  FROM rule_funnel
  GROUP BY place
)
SELECT
  l.rule,
  coalesce(l.rule_name, 'none') AS rule_name,
  d.plans AS plans_decided,
  d.messages AS messages_decided,
  d.messages / CAST(nullif(sum(d.messages) OVER (), 0) AS DOUBLE) AS share,
  coalesce(t.eliminated, 0) AS eliminated,
  coalesce(t.eliminated_messages, 0) AS eliminated_messages
FROM decided AS d
LEFT JOIN ladder AS l ON l.place = d.place
LEFT JOIN taken AS t ON t.place = d.place
ORDER BY messages_decided DESC, coalesce(d.place, 99)
