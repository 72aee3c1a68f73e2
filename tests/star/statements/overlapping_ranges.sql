-- Ranges of keys and prices that overlap, on both sides of joins, and a channel that has no rows.
SELECT channel, category, count(*) AS lines, sum(pieces) AS pieces
FROM (
  SELECT 'app' AS channel, g.category, h.pieces
  FROM app_hires h, gear g
  WHERE h.gear_id = g.gear_id AND g.list_price BETWEEN 20 AND 90 AND g.list_price >= 30 AND h.gear_id > 3 AND g.gear_id < 60 AND g.gear_id > 1
  UNION ALL
  SELECT 'phone' AS channel, g.category, h.pieces
  FROM phone_hires h, gear g
  WHERE h.gear_id = g.gear_id AND h.gear_id IN (1, 2, 5, 8, 13) AND g.gear_id >= 5 AND g.gear_id <> 8
  UNION ALL
  SELECT 'desk' AS channel, g.category, h.pieces
  FROM desk_hires h, gear g
  WHERE h.gear_id = g.gear_id AND h.gear_id IN (1, 2, 5) AND g.gear_id > 5) x
GROUP BY channel, category
ORDER BY channel, category
