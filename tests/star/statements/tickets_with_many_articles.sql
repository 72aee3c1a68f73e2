-- Tickets with many rows, of some households and branches.
SELECT m.last_name, m.first_name, m.code, t.ticket, t.hires
FROM (
  SELECT h.ticket, h.member_id, count(*) AS hires
  FROM desk_hires h, days d, branches b, households k
  WHERE h.day_id = d.day_id AND h.branch_id = b.branch_id AND h.household_id = k.household_id
    AND (d.weekday = 'Monday' OR d.weekday = 'Friday') AND k.cars > 0
    AND CASE WHEN k.cars > 0 THEN k.children / k.cars ELSE NULL END > 0.6 AND d.in_year IN (2024, 2024 + 1)
  GROUP BY h.ticket, h.member_id) t, members m
WHERE t.member_id = m.member_id AND t.hires BETWEEN 3 AND 5
ORDER BY m.last_name, m.first_name, t.hires DESC, t.ticket
