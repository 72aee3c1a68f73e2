-- SORT_QUERY_RESULTS
-- Forms that became native queries or local evaluation late; every answer is Hive 4.0.1's over the same rows.
CREATE EXTERNAL TABLE ev (`__time` timestamp, a string, b string, k int, d double, f float, n tinyint)
STORED BY 'druid' TBLPROPERTIES('druid.rollup' = 'false');
INSERT INTO ev VALUES ('2020-01-01 00:00:00', 'x', 'p', 1, 1.5, 0.1, 7), ('2020-01-02 00:00:00', 'x', 'q', 2, 2.345, 16777216, -7),
  ('2020-01-03 00:00:00', 'x', 'q', 2, -2.345, 0.3, 3), ('2020-01-04 00:00:00', 'y', 'p', 3, 0.005, 1e10, -1),
  ('2020-01-05 00:00:00', 'y', NULL, NULL, NULL, NULL, NULL), ('2020-01-06 00:00:00', NULL, '😀', -5, 1000.125, -2.25, 127);
-- COUNT(DISTINCT) with grouping sets: one native query where Druid has merge buffers enough, and one for the total over no rows
SELECT a, count(DISTINCT b), sum(k), count(*), grouping__id FROM ev GROUP BY a WITH ROLLUP;
SELECT a, k, count(DISTINCT b), count(DISTINCT d), sum(n), grouping__id FROM ev GROUP BY a, k WITH CUBE;
SELECT a, count(DISTINCT b), count(DISTINCT n, b), avg(k), count(*) FROM ev GROUP BY a, k GROUPING SETS ((a), (k), ());
SELECT a, count(DISTINCT b), sum(k), count(*), grouping__id, grouping(a) FROM ev WHERE k > 100 GROUP BY a WITH ROLLUP;
SELECT a, count(DISTINCT b) FROM ev GROUP BY a WITH ROLLUP HAVING count(DISTINCT b) > 1;
-- quotients of decimals are rounded row by row
SELECT n / 1.5, 2.5 / n, n / -0.7, k / 3.0, cast(d AS decimal(6,2)) / 3, cast(d AS decimal(6,2)) / 0.07, n / 0.0 FROM ev;
SELECT a, sum(n / 1.5), sum(k / 3.0), sum(cast(d AS decimal(10,2))), avg(cast(d AS decimal(8,2))), sum(cast(d AS decimal(6,2)) / 0.7 + 1) FROM ev GROUP BY a;
SELECT count(*) FROM ev WHERE n / 1.5 > 2;
-- one row of constants
EXPLAIN WITH p AS (SELECT INTERVAL '3' DAY AS i, TIMESTAMP '2020-01-06 12:00:00' AS t) SELECT a, count(*) FROM ev, p WHERE `__time` > p.t - p.i GROUP BY a;
WITH p AS (SELECT INTERVAL '3' DAY AS i, TIMESTAMP '2020-01-06 12:00:00' AS t) SELECT a, count(*) FROM ev, p WHERE `__time` > p.t - p.i GROUP BY a;
WITH p AS (SELECT DATE '2020-01-02' AS lo, DATE '2020-01-05' AS hi) SELECT a, count(*) FROM ev JOIN p ON `__time` >= p.lo AND `__time` < p.hi GROUP BY a;
WITH p AS (SELECT date_sub(DATE '2020-01-06', 2) AS d) SELECT a, (SELECT d FROM p) FROM ev WHERE `__time` >= (SELECT d FROM p);
-- arithmetic in FLOAT is rounded once to single precision
SELECT f*2, f*f, f+f, f+0.1, f/3, f*k, f+k, f*n, f*cast(0.7 as float), f-cast(0.1 as float), f*1.1, f%cast(0.07 as float), -f, f/f, f*d, f+16777217 FROM ev;
SELECT cast(f*f as double), cast(f+f as double), cast(f*cast(0.7 as float) as double), cast(f*k as double), cast(f + 16777217 as double), cast(f+1L as double) FROM ev;
-- the first rows in any order
EXPLAIN SELECT a, b, f FROM ev ORDER BY d DESC, a LIMIT 3;
SELECT a, b, f FROM ev ORDER BY d DESC, a LIMIT 3;
SELECT a, k FROM ev ORDER BY k, a LIMIT 2 OFFSET 2;
SELECT x.c, ev.b FROM ev JOIN (SELECT a, count(*) c FROM ev GROUP BY a) x ON ev.a = x.a ORDER BY x.c DESC, ev.b, ev.k LIMIT 2;
SELECT a, d FROM ev ORDER BY a NULLS FIRST, d DESC NULLS LAST LIMIT 3;
