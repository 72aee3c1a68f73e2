-- Two levels of aggregates of the same star, joined by branch.
SELECT b.name, g.label, c.revenue, g.list_price
FROM branches b, gear g,
  (SELECT branch_id, avg(revenue) AS mean FROM (
     SELECT h.branch_id, h.gear_id, sum(h.paid) AS revenue FROM desk_hires h, days d WHERE h.day_id = d.day_id AND d.week_no BETWEEN 1 AND 60 GROUP BY h.branch_id, h.gear_id) x
   GROUP BY branch_id) a,
  (SELECT h.branch_id, h.gear_id, sum(h.paid) AS revenue FROM desk_hires h, days d WHERE h.day_id = d.day_id AND d.week_no BETWEEN 1 AND 60 GROUP BY h.branch_id, h.gear_id) c
WHERE a.branch_id = c.branch_id AND c.revenue <= 0.1 * a.mean AND b.branch_id = c.branch_id AND g.gear_id = c.gear_id
ORDER BY b.name, g.label, c.revenue
