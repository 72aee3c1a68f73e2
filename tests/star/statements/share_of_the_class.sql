-- The share of each article in the revenue of its class within a month after a date.
SELECT g.gear_id, g.label, g.category, g.class, g.list_price, sum(h.paid) AS paid, sum(h.paid) * 100 / sum(sum(h.paid)) OVER (PARTITION BY g.class) AS share
FROM phone_hires h, gear g, days d
WHERE h.gear_id = g.gear_id AND g.category IN ('Boats', 'Tents', 'Winter') AND h.day_id = d.day_id
  AND d.on_date BETWEEN CAST('2024-12-01' AS DATE) AND (CAST('2024-12-01' AS DATE) + 30 days)
GROUP BY g.gear_id, g.label, g.category, g.class, g.list_price
ORDER BY g.category, g.class, g.gear_id, g.label, share
