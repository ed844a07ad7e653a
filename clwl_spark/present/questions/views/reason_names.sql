-- title: Names of the reason codes that a put can end with
-- row: a reason code
-- column reason: The code: 0, or an MQRC
-- column reason_name: MQ's name of it
SELECT reason, reason_name
FROM (
  VALUES
    (0, 'MQRC_NONE'),
    (2001, 'MQRC_ALIAS_BASE_Q_TYPE_ERROR'),
    (2051, 'MQRC_PUT_INHIBITED'),
    (2082, 'MQRC_UNKNOWN_ALIAS_BASE_Q'),
    (2085, 'MQRC_UNKNOWN_OBJECT_NAME'),
    (2087, 'MQRC_UNKNOWN_REMOTE_Q_MGR'),
    (2184, 'MQRC_REMOTE_Q_NAME_ERROR'),
    (2189, 'MQRC_CLUSTER_RESOLUTION_ERROR'),
    (2268, 'MQRC_CLUSTER_PUT_INHIBITED'),
    (2270, 'MQRC_NO_DESTINATIONS_AVAILABLE')
) AS names (reason, reason_name)
