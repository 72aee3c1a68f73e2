-- Counts decide which average is shown.
SELECT b.name,
  CASE WHEN (SELECT count(*) FROM desk_hires WHERE pieces BETWEEN 1 AND 3) > 500
    THEN (SELECT avg(gain) FROM desk_hires WHERE pieces BETWEEN 1 AND 3)
    ELSE (SELECT avg(paid) FROM desk_hires WHERE pieces BETWEEN 1 AND 3) END AS few,
  CASE WHEN (SELECT count(*) FROM desk_hires WHERE pieces BETWEEN 4 AND 8) > 5000
    THEN (SELECT avg(gain) FROM desk_hires WHERE pieces BETWEEN 4 AND 8)
    ELSE (SELECT avg(paid) FROM desk_hires WHERE pieces BETWEEN 4 AND 8) END AS some,
  CASE WHEN (SELECT count(*) FROM desk_hires WHERE pieces > 8) > 100
    THEN (SELECT max(gain) FROM desk_hires WHERE pieces > 8)
    ELSE (SELECT min(paid) FROM desk_hires WHERE pieces > 8) END AS many
FROM branches b
WHERE b.branch_id = 1
