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
    (1, 1, 2, 'shared cluster', 'in a cluster that the putting queue manager is not in'),
    (2, 2, 3, 'one cluster', 'the channel is in another cluster than the instance'),
    (100, 3, 4, 'exit', 'taken away by the cluster workload exit'),
    (3, 4, 6, 'CLWLRANK of the channel', 'below the highest CLWLRANK of channels or aliases'),
    (4, 5, 7, 'CLWLRANK of the queue', 'below the highest CLWLRANK of queues'),
    (5, 6, 1, 'PUT(DISABLED)', 'put-disabled instances'),
    (6, 7, 5, 'CLWLUSEQ', 'remote, where a local instance takes all'),
    (7, 8, 8, 'suspended', 'suspended queue managers, if another one is not'),
    (8, 9, 9, 'status: active', 'others than INACTIVE and RUNNING'),
    (9, 10, 10, 'status: starting', 'below BINDING, INITIALIZING, STARTING, STOPPING'),
    (10, 11, 11, 'status: RETRYING', 'below RETRYING'),
    (11, 12, 12, 'status: stopped', 'below REQUESTING, PAUSED, STOPPED, SWITCHING'),
    (12, 13, 13, 'NETPRTY', 'below the highest NETPRTY to that queue manager'),
    (13, 14, 14, 'CLWLPRTY of the channel', 'below the highest CLWLPRTY of channels or aliases'),
    (14, 15, 15, 'CLWLPRTY of the queue', 'below the highest CLWLPRTY of queues'),
    (0, 16, 16, 'same route', 'the same route through another cluster')
) AS rules (rule, place_v9, place_v7, rule_name, eliminates)
