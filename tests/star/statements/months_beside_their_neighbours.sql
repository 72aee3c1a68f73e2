-- A month that differs from the average of its year, beside the one before and the one after: by a self-join of a CTE.
WITH monthly AS (
  SELECT g.category, b.name, d.in_year, d.in_month, sum(h.paid) AS paid,
    avg(sum(h.paid)) OVER (PARTITION BY g.category, b.name, d.in_year) AS usual,
    rank() OVER (PARTITION BY g.category, b.name ORDER BY d.in_year, d.in_month) AS place
  FROM gear g, desk_hires h, days d, branches b
  WHERE h.gear_id = g.gear_id AND h.day_id = d.day_id AND h.branch_id = b.branch_id
    AND (d.in_year = 2024 OR (d.in_year = 2023 AND d.in_month = 12) OR (d.in_year = 2025 AND d.in_month = 1))
  GROUP BY g.category, b.name, d.in_year, d.in_month),
beside AS (
  SELECT now.category, now.name, now.in_year, now.in_month, now.usual, now.paid, earlier.paid AS before, later.paid AS after
  FROM monthly now, monthly earlier, monthly later
  WHERE now.category = earlier.category AND now.category = later.category AND now.name = earlier.name AND now.name = later.name
    AND now.place = earlier.place + 1 AND now.place = later.place - 1)
SELECT * FROM beside
WHERE in_year = 2024 AND usual > 0 AND CASE WHEN usual > 0 THEN abs(paid - usual) / usual ELSE NULL END > 0.6
ORDER BY paid - usual, category, name, in_month
LIMIT 60
