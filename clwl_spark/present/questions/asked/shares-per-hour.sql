-- question: Which share of an object's messages went where, hour by hour?
-- answers: A line per object, hour and channel, in order of time. share is of the object's routed
--   messages in that hour; points is what it changed by, in percentage points, against the last
--   hour in which that channel carried any of them.
SELECT
  object_name,
  object_qmgr,
  hour,
  dest_qmgr,
  channel,
  messages,
  share,
  100 * (
    share - lag(share) OVER (
      PARTITION BY object_type, object_name, object_qmgr, dest_qmgr, channel ORDER BY hour
    )
  ) AS points
FROM share_per_hour
ORDER BY object_name, object_qmgr, object_type, hour, dest_qmgr, channel NULLS LAST
