-- A CTE of two channels is used four times: members whose revenue of the app grew faster than that of the desk.
WITH yearly AS (
  SELECT m.member_id, m.first_name, m.last_name, d.in_year, sum(h.paid) AS total, 'desk' AS channel
  FROM members m, desk_hires h, days d
  WHERE m.member_id = h.member_id AND h.day_id = d.day_id
  GROUP BY m.member_id, m.first_name, m.last_name, d.in_year
  UNION ALL
  SELECT m.member_id, m.first_name, m.last_name, d.in_year, sum(h.paid) AS total, 'app' AS channel
  FROM members m, app_hires h, days d
  WHERE m.member_id = h.member_id AND h.day_id = d.day_id
  GROUP BY m.member_id, m.first_name, m.last_name, d.in_year)
SELECT desk2.member_id, desk2.first_name, desk2.last_name, desk1.total AS desk_before, app2.total / app1.total AS app_growth
FROM yearly desk1, yearly desk2, yearly app1, yearly app2
WHERE desk2.member_id = desk1.member_id AND desk1.member_id = app2.member_id AND desk1.member_id = app1.member_id
  AND desk1.channel = 'desk' AND app1.channel = 'app' AND desk2.channel = 'desk' AND app2.channel = 'app'
  AND desk1.in_year = 2024 AND desk2.in_year = 2025 AND app1.in_year = 2024 AND app2.in_year = 2025
  AND desk1.total > 0 AND app1.total > 0
  AND CASE WHEN app1.total > 0 THEN app2.total / app1.total ELSE NULL END > CASE WHEN desk1.total > 0 THEN desk2.total / desk1.total ELSE NULL END
ORDER BY desk2.member_id, desk2.first_name, desk2.last_name
