WITH counted AS (
  SELECT
    object_type,
    object_name,
    object_qmgr,
    date_trunc('HOUR', put_time) AS hour,
    dest_qmgr,
    channel,
    count(*) AS messages
  FROM {{ source('lake', 'outcomes') }}
  WHERE reason = 0
  GROUP BY ALL
)
SELECT
  *,
  messages / sum(messages) OVER (PARTITION BY object_type, object_name, object_qmgr, hour) AS share
FROM counted
