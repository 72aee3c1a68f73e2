-- The same with lag and lead, and an average over three months.
SELECT in_year, in_month, paid, lag(paid) OVER (ORDER BY in_year, in_month) AS before, lead(paid, 2, 0.0) OVER (ORDER BY in_year, in_month) AS two_later,
  avg(paid) OVER (ORDER BY in_year, in_month ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS smooth,
  sum(paid) OVER (PARTITION BY in_year ORDER BY in_month ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS so_far
FROM (
  SELECT d.in_year, d.in_month, sum(h.paid) AS paid FROM days d JOIN app_hires h ON h.day_id = d.day_id GROUP BY d.in_year, d.in_month) monthly
ORDER BY in_year, in_month
