-- A hire, its return by two keys, and a later one of the same member and article by phone.
SELECT g.code, b.branch_id, b.name, count(h.pieces) AS hires, avg(h.pieces) AS pieces, stddev_samp(h.pieces) AS deviation,
  sum(r.loss) AS lost, max(p.gain) AS gain
FROM desk_hires h, desk_returns r, phone_hires p, days d1, days d2, days d3, branches b, gear g
WHERE d1.in_year = 2024 AND d1.day_id = h.day_id AND g.gear_id = h.gear_id AND b.branch_id = h.branch_id
  AND h.member_id = r.member_id AND h.gear_id = r.gear_id AND h.ticket = r.ticket AND r.day_id = d2.day_id AND d2.in_year IN (2024, 2025)
  AND r.member_id = p.member_id AND p.day_id = d3.day_id AND d3.in_year IN (2024, 2025)
GROUP BY g.code, b.branch_id, b.name
ORDER BY g.code, b.branch_id
