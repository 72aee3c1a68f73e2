-- Queries that Druid answers alone: plans and rows.
CREATE EXTERNAL TABLE src (timecolumn timestamp, dimension1 string, dimension2 string, metric1 int, metric2 float)
STORED AS JSONFILE LOCATION '${dir}/data/src';
CREATE EXTERNAL TABLE ev STORED BY 'druid' TBLPROPERTIES('druid.rollup' = 'false')
AS SELECT timecolumn AS `__time`, dimension1, dimension2, metric1, CAST(metric1 AS bigint) * 1000000000000 AS big, CAST(metric2 AS double) AS metric2, metric1 > 2 AS flag FROM src;

SELECT * FROM ev ORDER BY `__time`, dimension2;
SELECT dimension1, count(*), count(dimension2), sum(metric1), min(metric2), max(metric2), avg(metric1) FROM ev GROUP BY dimension1 ORDER BY dimension1;
SELECT dimension1, count(*) FROM ev GROUP BY dimension1 ORDER BY dimension1 NULLS FIRST;
SELECT dimension1, count(*) FROM ev GROUP BY dimension1 ORDER BY dimension1 DESC;
EXPLAIN SELECT dimension1, count(*) c FROM ev WHERE dimension1 IS NOT NULL GROUP BY dimension1 ORDER BY dimension1 LIMIT 2;
SELECT dimension1, count(*) c FROM ev WHERE dimension1 IS NOT NULL GROUP BY dimension1 ORDER BY dimension1 LIMIT 2;
EXPLAIN SELECT count(DISTINCT dimension1), sum(big) FROM ev;
SELECT count(DISTINCT dimension1), sum(big) FROM ev;
SELECT flag, count(*) FROM ev GROUP BY flag ORDER BY flag;
SELECT sum(metric1), count(*), avg(metric2) FROM ev WHERE dimension1 = 'nowhere';
SELECT dimension1, sum(metric1) s FROM ev GROUP BY dimension1 HAVING sum(metric1) > 2 AND dimension1 = 'a';
SELECT DISTINCT dimension1 FROM ev ORDER BY dimension1;
SELECT floor_year(`__time`) y, sum(metric1) FROM ev GROUP BY floor_year(`__time`) ORDER BY y DESC;
SELECT floor(`__time` TO QUARTER) q, floor_week(`__time`) w, count(*) FROM ev GROUP BY floor(`__time` TO QUARTER), floor_week(`__time`) ORDER BY q, w;
SELECT year(`__time`), month(`__time`), dayofweek(`__time`), weekofyear(`__time`), count(*) FROM ev GROUP BY year(`__time`), month(`__time`), dayofweek(`__time`), weekofyear(`__time`) ORDER BY 1, 2, 3;
SELECT metric1 / 2, metric1 DIV 2, metric1 % 2, -metric1, metric1 / 0, metric2 * 2 FROM ev WHERE dimension1 = 'a' ORDER BY `__time`;
SELECT upper(dimension2), length(dimension2), concat(dimension1, '-', dimension2), substring(dimension2, 1, 1), coalesce(dimension2, 'none') FROM ev ORDER BY `__time`, dimension2;
SELECT CASE WHEN metric1 > 2 THEN 'big' WHEN metric1 > 1 THEN 'middle' ELSE 'small' END k, count(*) FROM ev GROUP BY CASE WHEN metric1 > 2 THEN 'big' WHEN metric1 > 1 THEN 'middle' ELSE 'small' END ORDER BY k;
SELECT dimension1 FROM ev WHERE dimension1 LIKE 'a%' OR dimension2 IN ('z', 'é') ORDER BY `__time`, dimension1;
SELECT max(`__time`), min(`__time`) FROM ev;
WITH t AS (SELECT dimension1, sum(metric1) s FROM ev GROUP BY dimension1) SELECT count(*), max(s) FROM t;
SELECT dimension1, c FROM (SELECT dimension1, count(*) c FROM ev GROUP BY dimension1) x WHERE c > 1;
SELECT count(*) FROM ev WHERE `__time` >= '2015-09-12' AND `__time` < '2015-09-13';
SELECT 1 + 1, 'a', current_date, CAST('2020-02-30' AS date), NULL;
