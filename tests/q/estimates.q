-- count(DISTINCT …) as an estimate: hivedruid.approximate, and the errors that EXPLAIN shows.
CREATE EXTERNAL TABLE visits (`__time` timestamp with local time zone, page string, visitor bigint, seconds double)
STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false', 'druid.segment.granularity' = 'DAY');
INSERT INTO visits VALUES
  ('2026-01-01 00:00:00', 'a', 1, 1.5), ('2026-01-01 01:00:00', 'b', 1, 2.5), ('2026-01-01 02:00:00', '', 2, 0),
  ('2026-01-02 00:00:00', NULL, 3, 1.5), ('2026-01-02 01:00:00', 'a', NULL, NULL), ('2026-01-02 02:00:00', 'b', 3, 4);

-- exact, as always
EXPLAIN CBO SELECT count(DISTINCT page) FROM visits;

SET hivedruid.approximate=sketches;
EXPLAIN SELECT visitor, count(DISTINCT page) FROM visits GROUP BY visitor HAVING count(DISTINCT page) > 1;
SELECT count(DISTINCT page), count(DISTINCT visitor), count(DISTINCT seconds), count(*) FROM visits;
SELECT visitor, count(DISTINCT page) pages FROM visits GROUP BY visitor ORDER BY pages DESC, visitor;
SELECT visitor, count(DISTINCT page) pages FROM visits GROUP BY visitor HAVING count(DISTINCT page) > 1;
SELECT count(DISTINCT page) FROM visits WHERE visitor > 100;
SELECT count(DISTINCT `__time`), count(DISTINCT upper(page)) FROM visits;
SELECT visitor, page, count(DISTINCT seconds) FROM visits GROUP BY visitor, page WITH ROLLUP ORDER BY visitor, page;

SET hivedruid.approximate=druid;
EXPLAIN SELECT visitor, count(DISTINCT page) FROM visits GROUP BY visitor HAVING count(DISTINCT page) > 1;
SELECT count(DISTINCT page), count(DISTINCT visitor), count(DISTINCT seconds), count(*) FROM visits;
SELECT visitor, count(DISTINCT page) pages FROM visits GROUP BY visitor ORDER BY pages DESC, visitor;
SELECT visitor, count(DISTINCT page) pages FROM visits GROUP BY visitor HAVING count(DISTINCT page) > 1;
SELECT count(DISTINCT page) FROM visits WHERE visitor > 100;
SELECT count(DISTINCT `__time`), count(DISTINCT upper(page)) FROM visits;
SELECT visitor, page, count(DISTINCT seconds) FROM visits GROUP BY visitor, page WITH ROLLUP ORDER BY visitor, page;

-- exact where Druid cannot compute the whole aggregate: several expressions, and aggregates of Spark
EXPLAIN CBO SELECT count(DISTINCT page, visitor) FROM visits;
EXPLAIN CBO SELECT count(DISTINCT page), collect_set(visitor) FROM visits;

-- exact in materialized views, which answer exact queries, too
EXPLAIN CBO CREATE MATERIALIZED VIEW pages STORED AS PARQUET AS SELECT visitor, count(DISTINCT page) n FROM visits GROUP BY visitor;

-- estimates of Spark
EXPLAIN SELECT approx_distinct(word), percentile_approx(n, 0.5) FROM (SELECT 'a' word, 1 n UNION ALL SELECT 'b', 2) t;
SET hivedruid.approximate=maybe;
