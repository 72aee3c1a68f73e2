-- Articles in stock within 60 days that one channel has hired out; every row of the stock meets every hire.
SELECT g.gear_id, g.label, g.list_price, count(*) AS meetings
FROM gear g, stock s, days d, phone_hires h
WHERE g.list_price BETWEEN 30 AND 30 + 40 AND s.gear_id = g.gear_id AND d.day_id = s.day_id
  AND d.on_date BETWEEN CAST('2024-02-01' AS DATE) AND (CAST('2024-02-01' AS DATE) + 60 days)
  AND g.maker IN (100, 102, 104, 108) AND s.on_hand BETWEEN 10 AND 50 AND h.gear_id = g.gear_id
GROUP BY g.gear_id, g.label, g.list_price
ORDER BY g.gear_id
