-- Ages and prices in bands, with width_bucket, case and a join on a range.
CREATE TEMPORARY TABLE p AS SELECT stack(5, 'a', 17, 'b', 18, 'c', 40, 'd', 65, 'e', CAST(NULL AS INT)) AS (n, age);
CREATE TEMPORARY TABLE bands AS SELECT stack(3, 0, 17, 'child', 18, 64, 'adult', 65, 200, 'senior') AS (lo, hi, band);
SELECT n, band FROM p LEFT JOIN bands ON age BETWEEN lo AND hi ORDER BY n;
SELECT CASE WHEN age < 18 THEN '<18' WHEN age < 65 THEN '18-64' WHEN age >= 65 THEN '65+' ELSE 'unknown' END AS b, count(*) AS c FROM p
GROUP BY CASE WHEN age < 18 THEN '<18' WHEN age < 65 THEN '18-64' WHEN age >= 65 THEN '65+' ELSE 'unknown' END ORDER BY b;
SELECT n, width_bucket(age, 0, 80, 4) AS w, floor(age / 10) * 10 AS decade, age % 7 AS m, age DIV 20 AS d, pmod(-age, 7) AS pm FROM p ORDER BY n;
SELECT percentile(age, 0.5) AS median, percentile(age, array(0.25, 0.75)) AS quartiles, stddev_pop(age) AS sd, variance(age) AS v,
       round(corr(age, age * 2), 6) AS r FROM p;
SELECT greatest(1, 5, 3) AS g, least('b', 'a') AS l, coalesce(NULL, NULL, 7) AS c, nullif(3, 3) AS nf;
