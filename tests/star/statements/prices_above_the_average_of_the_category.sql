-- Regions with members who hire dear articles; the month comes from a scalar subquery.
SELECT a.region, count(*) AS hires
FROM addresses a, members m, desk_hires h, days d, gear g
WHERE a.address_id = m.address_id AND m.member_id = h.member_id AND h.day_id = d.day_id AND h.gear_id = g.gear_id
  AND d.in_quarter = (SELECT DISTINCT in_quarter FROM days WHERE in_year = 2024 AND in_month = 12)
  AND g.list_price > 1.2 * (SELECT avg(o.list_price) FROM gear o WHERE o.category = g.category)
GROUP BY a.region
HAVING count(*) >= 5
ORDER BY hires, a.region
