-- Months as columns, over the union of two channels, for some hours of the day.
SELECT name, floor_area, ship_year, sum(january) AS january, sum(june) AS june, sum(december) AS december, sum(december / floor_area) AS december_by_area
FROM (
  SELECT w.name, w.floor_area, d.in_year AS ship_year,
    sum(CASE WHEN d.in_month = 1 THEN h.paid * h.pieces ELSE 0 END) AS january,
    sum(CASE WHEN d.in_month = 6 THEN h.paid * h.pieces ELSE 0 END) AS june,
    sum(CASE WHEN d.in_month = 12 THEN h.paid * h.pieces ELSE 0 END) AS december
  FROM app_hires h, depots w, days d, slots s
  WHERE h.depot_id = w.depot_id AND h.day_id = d.day_id AND h.slot_id = s.slot_id AND d.in_year = 2024 AND s.hour_of_day BETWEEN 6 AND 20
  GROUP BY w.name, w.floor_area, d.in_year
  UNION ALL
  SELECT w.name, w.floor_area, d.in_year AS ship_year,
    sum(CASE WHEN d.in_month = 1 THEN h.paid * h.pieces ELSE 0 END) AS january,
    sum(CASE WHEN d.in_month = 6 THEN h.paid * h.pieces ELSE 0 END) AS june,
    sum(CASE WHEN d.in_month = 12 THEN h.paid * h.pieces ELSE 0 END) AS december
  FROM phone_hires h, depots w, days d
  WHERE h.depot_id = w.depot_id AND h.day_id = d.day_id AND d.in_year = 2024
  GROUP BY w.name, w.floor_area, d.in_year) x
GROUP BY name, floor_area, ship_year
ORDER BY name
