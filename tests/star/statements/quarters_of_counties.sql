-- Two CTEs, each used three times: the growth of counties from quarter to quarter in two channels.
WITH desk AS (
  SELECT a.county, d.in_quarter, d.in_year, sum(h.paid) AS paid FROM desk_hires h, days d, addresses a
  WHERE h.day_id = d.day_id AND h.address_id = a.address_id
  GROUP BY a.county, d.in_quarter, d.in_year),
app AS (
  SELECT a.county, d.in_quarter, d.in_year, sum(h.paid) AS paid FROM app_hires h, days d, addresses a
  WHERE h.day_id = d.day_id AND h.address_id = a.address_id
  GROUP BY a.county, d.in_quarter, d.in_year)
SELECT d1.county, d1.in_year, d2.paid / d1.paid AS desk_first, a2.paid / a1.paid AS app_first, d3.paid / d2.paid AS desk_second, a3.paid / a2.paid AS app_second
FROM desk d1, desk d2, desk d3, app a1, app a2, app a3
WHERE d1.in_quarter = 1 AND d1.in_year = 2024 AND d1.county = d2.county AND d2.in_quarter = 2 AND d2.in_year = 2024
  AND d2.county = d3.county AND d3.in_quarter = 3 AND d3.in_year = 2024
  AND d1.county = a1.county AND a1.in_quarter = 1 AND a1.in_year = 2024
  AND a1.county = a2.county AND a2.in_quarter = 2 AND a2.in_year = 2024
  AND a1.county = a3.county AND a3.in_quarter = 3 AND a3.in_year = 2024
  AND (a2.paid > 0.9 * d2.paid OR a3.paid < d3.paid)
ORDER BY d1.county
