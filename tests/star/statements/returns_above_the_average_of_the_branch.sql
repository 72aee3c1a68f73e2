-- A correlated average over a CTE.
WITH refunds AS (
  SELECT r.member_id, r.branch_id, sum(r.refund) AS total FROM desk_returns r, days d WHERE r.day_id = d.day_id AND d.in_year = 2024
  GROUP BY r.member_id, r.branch_id)
SELECT m.code, f.branch_id, f.total
FROM refunds f, branches b, members m
WHERE f.total > (SELECT avg(total) * 1.2 FROM refunds o WHERE f.branch_id = o.branch_id) AND b.branch_id = f.branch_id
  AND b.region IN ('South', 'Isles', 'East') AND f.member_id = m.member_id
ORDER BY m.code, f.branch_id
LIMIT 100
