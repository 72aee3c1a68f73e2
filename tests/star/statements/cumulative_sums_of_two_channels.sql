-- Running totals of two channels meet in a FULL OUTER JOIN; the days on which one is ahead.
WITH app AS (
  SELECT h.gear_id, d.on_date, sum(sum(h.paid)) OVER (PARTITION BY h.gear_id ORDER BY d.on_date ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS total
  FROM app_hires h, days d
  WHERE h.day_id = d.day_id AND d.in_year = 2024 AND d.in_month BETWEEN 10 AND 12 AND h.gear_id IS NOT NULL
  GROUP BY h.gear_id, d.on_date),
desk AS (
  SELECT h.gear_id, d.on_date, sum(sum(h.paid)) OVER (PARTITION BY h.gear_id ORDER BY d.on_date ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS total
  FROM desk_hires h, days d
  WHERE h.day_id = d.day_id AND d.in_year = 2024 AND d.in_month BETWEEN 10 AND 12 AND h.gear_id IS NOT NULL
  GROUP BY h.gear_id, d.on_date)
SELECT *
FROM (
  SELECT gear_id, on_date, app_total, desk_total,
    max(app_total) OVER (PARTITION BY gear_id ORDER BY on_date ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS app_most,
    max(desk_total) OVER (PARTITION BY gear_id ORDER BY on_date ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS desk_most
  FROM (
    SELECT CASE WHEN app.gear_id IS NOT NULL THEN app.gear_id ELSE desk.gear_id END AS gear_id,
      CASE WHEN app.on_date IS NOT NULL THEN app.on_date ELSE desk.on_date END AS on_date, app.total AS app_total, desk.total AS desk_total
    FROM app FULL OUTER JOIN desk ON (app.gear_id = desk.gear_id AND app.on_date = desk.on_date)) both_channels) running
WHERE app_most > desk_most
ORDER BY gear_id, on_date
