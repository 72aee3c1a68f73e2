-- Weekdays as columns, and the weeks of a year beside those 52 weeks later.
WITH hires AS (
  SELECT day_id, paid FROM app_hires UNION ALL SELECT day_id, paid FROM phone_hires),
weekly AS (
  SELECT d.week_no,
    sum(CASE WHEN d.weekday = 'Sunday' THEN h.paid ELSE NULL END) AS sunday,
    sum(CASE WHEN d.weekday = 'Monday' THEN h.paid ELSE NULL END) AS monday,
    sum(CASE WHEN d.weekday = 'Wednesday' THEN h.paid ELSE NULL END) AS wednesday,
    sum(CASE WHEN d.weekday = 'Saturday' THEN h.paid ELSE NULL END) AS saturday
  FROM hires h, days d WHERE d.day_id = h.day_id
  GROUP BY d.week_no)
SELECT y.week_no, round(y.sunday / z.sunday, 2) AS sunday, round(y.monday / z.monday, 2) AS monday,
  round(y.wednesday / z.wednesday, 2) AS wednesday, round(y.saturday / z.saturday, 2) AS saturday
FROM (SELECT weekly.* FROM weekly, days WHERE days.week_no = weekly.week_no AND in_year = 2024 AND weekday = 'Friday') y,
  (SELECT weekly.* FROM weekly, days WHERE days.week_no = weekly.week_no AND in_year = 2025 AND weekday = 'Friday') z
WHERE y.week_no = z.week_no - 52
ORDER BY y.week_no
