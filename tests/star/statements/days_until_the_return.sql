-- Columns by the number of days between a hire and its return.
SELECT b.name, b.branch_id,
  sum(CASE WHEN r.day_id - h.day_id <= 30 THEN 1 ELSE 0 END) AS to_30,
  sum(CASE WHEN r.day_id - h.day_id > 30 AND r.day_id - h.day_id <= 60 THEN 1 ELSE 0 END) AS to_60,
  sum(CASE WHEN r.day_id - h.day_id > 60 AND r.day_id - h.day_id <= 90 THEN 1 ELSE 0 END) AS to_90,
  sum(CASE WHEN r.day_id - h.day_id > 90 THEN 1 ELSE 0 END) AS later
FROM desk_hires h, desk_returns r, branches b, days d1, days d2
WHERE d2.in_year = 2024 AND h.ticket = r.ticket AND h.gear_id = r.gear_id AND h.day_id = d1.day_id AND r.day_id = d2.day_id
  AND h.member_id = r.member_id AND h.branch_id = b.branch_id
GROUP BY b.name, b.branch_id
ORDER BY b.name, b.branch_id
