-- Customers who hire far from their home: the tables are a chain whose links come in any order.
SELECT g.brand, g.maker, a.region, sum(h.gain) AS gain, count(*) AS hires
FROM addresses a, branches b, days d, gear g, members m, desk_hires h
WHERE h.branch_id = b.branch_id AND m.address_id = a.address_id AND h.member_id = m.member_id AND h.day_id = d.day_id
  AND h.gear_id = g.gear_id AND substr(a.postcode, 1, 2) <> substr(b.postcode, 1, 2) AND d.in_year = 2024
  AND g.maker BETWEEN 102 AND 105
GROUP BY g.brand, g.maker, a.region
ORDER BY gain DESC, g.brand, g.maker, a.region
