-- The stock of articles before and after a date; their ratio is bounded.
SELECT *
FROM (
  SELECT w.name, g.code,
    sum(CASE WHEN d.on_date < CAST('2024-07-01' AS DATE) THEN s.on_hand ELSE 0 END) AS before,
    sum(CASE WHEN d.on_date >= CAST('2024-07-01' AS DATE) THEN s.on_hand ELSE 0 END) AS after
  FROM stock s, depots w, gear g, days d
  WHERE g.list_price BETWEEN 20 AND 60 AND g.gear_id = s.gear_id AND s.depot_id = w.depot_id AND s.day_id = d.day_id
    AND d.on_date BETWEEN (CAST('2024-07-01' AS DATE) - 60 days) AND (CAST('2024-07-01' AS DATE) + 60 days)
  GROUP BY w.name, g.code) x
WHERE CASE WHEN before > 0 THEN after / before ELSE NULL END BETWEEN 0.5 AND 1.5
ORDER BY name, code
