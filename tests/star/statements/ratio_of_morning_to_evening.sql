-- A ratio of two counts as decimals.
SELECT round(CAST(morning AS DECIMAL(15,4)) / CAST(evening AS DECIMAL(15,4)), 8) AS ratio
FROM (SELECT count(*) AS morning FROM app_hires h, slots s WHERE h.slot_id = s.slot_id AND s.hour_of_day BETWEEN 7 AND 8) a,
  (SELECT count(*) AS evening FROM app_hires h, slots s WHERE h.slot_id = s.slot_id AND s.hour_of_day BETWEEN 19 AND 20) b
ORDER BY ratio
