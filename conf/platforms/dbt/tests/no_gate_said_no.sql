-- What `clwl validate` found last, of gates that mean an error.
SELECT gate, verdict, failing, title, remedy
FROM {{ source('lake', 'gate_results') }}
WHERE severity = 'error'
  AND verdict <> 'PASSED'
  AND validation_id = (
    SELECT max_by(validation_id, judged_at) FROM {{ source('lake', 'gate_results') }}
  )
