-- The best combinations of each category, with subtotals over five keys.
SELECT *
FROM (
  SELECT category, class, brand, in_year, in_quarter, branch, total, rank() OVER (PARTITION BY category ORDER BY total DESC) AS place
  FROM (
    SELECT g.category, g.class, g.brand, d.in_year, d.in_quarter, b.name AS branch, sum(coalesce(h.price * h.pieces, 0)) AS total
    FROM desk_hires h, days d, branches b, gear g
    WHERE h.day_id = d.day_id AND h.gear_id = g.gear_id AND h.branch_id = b.branch_id AND d.week_no BETWEEN 10 AND 40
    GROUP BY ROLLUP (g.category, g.class, g.brand, d.in_year, d.in_quarter, b.name)) sums) ranked
WHERE place <= 6
ORDER BY category, class, brand, in_year, in_quarter, branch, total, place
