-- What was not returned, by year and article, beside the year before.
WITH kept AS (
  SELECT in_year, brand, class, maker, sum(pieces) AS pieces, sum(paid) AS paid
  FROM (
    SELECT d.in_year, g.brand, g.class, g.maker, h.pieces - coalesce(r.pieces, 0) AS pieces, h.paid - coalesce(r.refund, 0.0) AS paid
    FROM phone_hires h JOIN gear g ON g.gear_id = h.gear_id JOIN days d ON d.day_id = h.day_id
      LEFT JOIN phone_returns r ON (h.order_no = r.order_no AND h.gear_id = r.gear_id)
    WHERE g.category IN ('Tents', 'Boats')
    UNION
    SELECT d.in_year, g.brand, g.class, g.maker, h.pieces - coalesce(r.pieces, 0) AS pieces, h.paid - coalesce(r.refund, 0.0) AS paid
    FROM desk_hires h JOIN gear g ON g.gear_id = h.gear_id JOIN days d ON d.day_id = h.day_id
      LEFT JOIN desk_returns r ON (h.ticket = r.ticket AND h.gear_id = r.gear_id)
    WHERE g.category IN ('Tents', 'Boats')) x
  GROUP BY in_year, brand, class, maker)
SELECT earlier.in_year AS earlier_year, now.in_year, now.brand, now.class, now.maker, earlier.pieces AS earlier_pieces, now.pieces, now.pieces - earlier.pieces AS difference
FROM kept now, kept earlier
WHERE now.brand = earlier.brand AND now.class = earlier.class AND now.maker = earlier.maker AND now.in_year = 2025 AND earlier.in_year = 2024
  AND CAST(now.pieces AS DECIMAL(17,2)) / CAST(earlier.pieces AS DECIMAL(17,2)) < 0.9
ORDER BY difference, now.brand, now.class, now.maker
