-- The fact table comes last: the tables before it have nothing in common.
SELECT d.in_year, g.brand, g.maker, sum(h.paid) AS revenue
FROM days d, gear g, desk_hires h
WHERE g.gear_id = h.gear_id AND d.day_id = h.day_id AND d.in_month = 12 AND g.category = 'Boats'
GROUP BY d.in_year, g.brand, g.maker
ORDER BY d.in_year, revenue DESC, g.brand, g.maker
LIMIT 40
