-- New members of a month, their later revenue in segments of 50; the months come from scalar subqueries over a sequence.
WITH chosen AS (
  SELECT DISTINCT m.member_id, m.address_id
  FROM (SELECT day_id, member_id, gear_id FROM phone_hires UNION ALL SELECT day_id, member_id, gear_id FROM app_hires) x, gear g, days d, members m
  WHERE x.day_id = d.day_id AND x.gear_id = g.gear_id AND g.category = 'Tents' AND m.member_id = x.member_id AND d.in_month = 12 AND d.in_year = 2024),
revenues AS (
  SELECT c.member_id, sum(h.paid) AS revenue
  FROM chosen c, desk_hires h, addresses a, branches b, days d
  WHERE c.address_id = a.address_id AND a.region = b.region AND h.day_id = d.day_id AND c.member_id = h.member_id
    AND d.in_year * 12 + d.in_month BETWEEN (SELECT DISTINCT in_year * 12 + in_month + 1 FROM days WHERE in_year = 2024 AND in_month = 12)
      AND (SELECT DISTINCT in_year * 12 + in_month + 6 FROM days WHERE in_year = 2024 AND in_month = 12)
  GROUP BY c.member_id)
SELECT segment, count(*) AS members, segment * 50 AS base
FROM (SELECT CAST(floor(revenue / 50) AS INT) AS segment FROM revenues) s
GROUP BY segment
ORDER BY segment, members
