-- Brands of two channels, by INTERSECT, select the rows of each; a scalar subquery gives the least total.
WITH kinds AS (
  SELECT g.gear_id FROM gear g, (
    SELECT g.brand, g.class, g.colour FROM desk_hires h, gear g, days d WHERE h.gear_id = g.gear_id AND h.day_id = d.day_id AND d.in_year = 2024
    INTERSECT
    SELECT g.brand, g.class, g.colour FROM phone_hires h, gear g, days d WHERE h.gear_id = g.gear_id AND h.day_id = d.day_id AND d.in_year = 2024) x
  WHERE g.brand = x.brand AND g.class = x.class AND g.colour = x.colour),
usual AS (
  SELECT avg(pieces * price) AS paid FROM (
    SELECT h.pieces, h.price FROM desk_hires h, days d WHERE h.day_id = d.day_id AND d.in_year = 2024
    UNION ALL SELECT h.pieces, h.price FROM phone_hires h, days d WHERE h.day_id = d.day_id AND d.in_year = 2024) x)
SELECT channel, brand, class, sum(paid) AS paid, sum(hires) AS hires
FROM (
  SELECT 'desk' AS channel, g.brand, g.class, sum(h.pieces * h.price) AS paid, count(*) AS hires FROM desk_hires h, gear g, days d
  WHERE h.gear_id IN (SELECT gear_id FROM kinds) AND h.gear_id = g.gear_id AND h.day_id = d.day_id AND d.in_year = 2024 AND d.in_month = 12
  GROUP BY g.brand, g.class HAVING sum(h.pieces * h.price) > (SELECT paid FROM usual)
  UNION ALL
  SELECT 'phone' AS channel, g.brand, g.class, sum(h.pieces * h.price) AS paid, count(*) AS hires FROM phone_hires h, gear g, days d
  WHERE h.gear_id IN (SELECT gear_id FROM kinds) AND h.gear_id = g.gear_id AND h.day_id = d.day_id AND d.in_year = 2024 AND d.in_month = 12
  GROUP BY g.brand, g.class HAVING sum(h.pieces * h.price) > (SELECT paid FROM usual)) y
GROUP BY ROLLUP (channel, brand, class)
ORDER BY channel, brand, class
