-- Revenue of one channel with articles that are hired often, by the best members.
WITH often AS (
  SELECT h.gear_id, count(*) AS hires FROM desk_hires h, days d
  WHERE h.day_id = d.day_id AND d.in_year IN (2024, 2025)
  GROUP BY h.gear_id HAVING count(*) > 50),
most AS (
  SELECT max(total) AS total FROM (SELECT member_id, sum(pieces * price) AS total FROM desk_hires WHERE member_id IS NOT NULL GROUP BY member_id) t),
best AS (
  SELECT h.member_id, sum(h.pieces * h.price) AS total FROM desk_hires h, members m WHERE h.member_id = m.member_id
  GROUP BY h.member_id HAVING sum(h.pieces * h.price) > 0.5 * (SELECT total FROM most))
SELECT m.last_name, m.first_name, sum(h.pieces * h.price) AS paid
FROM phone_hires h, members m, days d
WHERE d.in_year = 2024 AND h.day_id = d.day_id AND h.gear_id IN (SELECT gear_id FROM often) AND h.member_id IN (SELECT member_id FROM best)
  AND h.member_id = m.member_id
GROUP BY m.last_name, m.first_name
ORDER BY m.last_name, m.first_name, paid
