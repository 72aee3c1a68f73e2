-- Numbers of different values over windows, as in reports on visitors.
CREATE TEMPORARY TABLE visits AS
SELECT stack(7, 'a', 1, 1.5D, 1, 'a', 1, 1.5D, 2, 'a', 2, CAST(NULL AS DOUBLE), 3, 'b', 3, 0.0D, 4,
  'b', CAST(NULL AS INT), -0.0D, 5, 'b', 3, CAST('NaN' AS DOUBLE), 6, 'b', 4, CAST('NaN' AS DOUBLE), 7)
  AS (site, visitor, score, hour);
SELECT site, hour,
  count(DISTINCT visitor) OVER (PARTITION BY site) AS visitors,
  sum(DISTINCT visitor) OVER (PARTITION BY site) AS total,
  count(DISTINCT score) OVER (PARTITION BY site) AS scores
FROM visits ORDER BY hour;
SELECT site, hour,
  count(DISTINCT visitor) OVER (PARTITION BY site ORDER BY hour) AS so_far,
  sum(DISTINCT visitor) OVER (ORDER BY hour) AS total,
  avg(DISTINCT visitor) OVER (PARTITION BY site) AS mean
FROM visits ORDER BY hour;
SELECT hour,
  count(DISTINCT visitor) OVER () AS every,
  count(DISTINCT visitor) OVER (ORDER BY hour ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS two_hours,
  count(DISTINCT visitor, hour) OVER (PARTITION BY site) AS pairs,
  max(DISTINCT visitor) OVER (PARTITION BY site) AS last,
  sum(DISTINCT CAST(visitor AS DECIMAL(5, 2))) OVER (PARTITION BY site) AS total
FROM visits ORDER BY hour;
