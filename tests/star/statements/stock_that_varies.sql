-- The variation of the stock by quarter, beside that of the next quarter.
WITH varying AS (
  SELECT name, depot_id, gear_id, in_quarter, dev, mean, CASE mean WHEN 0 THEN NULL ELSE dev / mean END AS variation
  FROM (
    SELECT w.name, w.depot_id, g.gear_id, d.in_quarter, stddev_samp(s.on_hand) AS dev, avg(s.on_hand) AS mean
    FROM stock s, gear g, depots w, days d
    WHERE s.gear_id = g.gear_id AND s.depot_id = w.depot_id AND s.day_id = d.day_id AND d.in_year = 2024
    GROUP BY w.name, w.depot_id, g.gear_id, d.in_quarter) x
  WHERE CASE mean WHEN 0 THEN 0 ELSE dev / mean END > 0.7)
SELECT a.depot_id, a.gear_id, a.in_quarter, a.mean, a.variation, b.in_quarter AS next_quarter, b.mean AS next_mean, b.variation AS next_variation
FROM varying a, varying b
WHERE a.gear_id = b.gear_id AND a.depot_id = b.depot_id AND a.in_quarter = 1 AND b.in_quarter = 2
ORDER BY a.depot_id, a.gear_id
