-- A rank within each level of subtotals.
SELECT sum(h.gain) / sum(h.paid) AS margin, g.category, g.class, grouping(g.category) + grouping(g.class) AS level,
  rank() OVER (PARTITION BY grouping(g.category) + grouping(g.class), CASE WHEN grouping(g.class) = 0 THEN g.category END
    ORDER BY sum(h.gain) / sum(h.paid)) AS place
FROM desk_hires h, days d, gear g, branches b
WHERE d.in_year = 2024 AND d.day_id = h.day_id AND g.gear_id = h.gear_id AND b.branch_id = h.branch_id AND b.region IN ('South', 'East', 'West')
GROUP BY ROLLUP (g.category, g.class)
ORDER BY level DESC, CASE WHEN grouping(g.category) + grouping(g.class) = 0 THEN g.category END, place, g.category, g.class
