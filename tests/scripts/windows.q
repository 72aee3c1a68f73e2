-- Running totals, moving averages, shares, and top n per group.
CREATE TEMPORARY TABLE sales AS
SELECT inline(array(
  struct('n', 1, 10.0D), struct('n', 2, 30.0D), struct('n', 3, 20.0D), struct('s', 1, 5.0D), struct('s', 3, 15.0D))) AS (region, m, v);
SELECT region, m, v, sum(v) OVER (PARTITION BY region ORDER BY m) AS running,
       avg(v) OVER (PARTITION BY region ORDER BY m ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS moving,
       round(v / sum(v) OVER (PARTITION BY region), 2) AS share,
       max(v) OVER w AS best, count(*) OVER () AS n
FROM sales WINDOW w AS (PARTITION BY region) ORDER BY region, m;
SELECT region, m, v FROM (
  SELECT region, m, v, rank() OVER (PARTITION BY region ORDER BY v DESC) AS r FROM sales) t WHERE r <= 2 ORDER BY region, v DESC;
SELECT region, m, v - lag(v) OVER (PARTITION BY region ORDER BY m) AS change,
       lead(m, 1, 0) OVER (PARTITION BY region ORDER BY m) AS next_m, cume_dist() OVER (PARTITION BY region ORDER BY v) AS cd,
       first_value(v) OVER (PARTITION BY region ORDER BY m DESC) AS latest
FROM sales ORDER BY region, m;
SELECT region, sum(v) AS total, rank() OVER (ORDER BY sum(v) DESC) AS place FROM sales GROUP BY region ORDER BY place;
SELECT m, sum(v) AS v, sum(sum(v)) OVER (ORDER BY m) AS running FROM sales GROUP BY m ORDER BY m;
