-- title: The rules in the order in which this lake applies them
-- row: a rule, by the number that it leaves in route_candidates.eliminated_by
-- column rule: Number of the rule; 100 = the exit, 0 = the same route through another cluster
-- column place: Its place in the lake's order, from 1; the order of v9 before the first run
-- column rule_name: What the rule looks at
-- column eliminates: The candidates that it takes away
SELECT
  rule,
  CASE WHEN (SELECT max(algorithm) FROM runs) = 'v7' THEN place_v7 ELSE place_v9 END AS place,
  rule_name,
  eliminates
FROM (
  VALUES
    {ladder}
) AS rules (rule, place_v9, place_v7, rule_name, eliminates)
