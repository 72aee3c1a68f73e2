--! qt:replace:/at most \d+ of \d+/at most # of #/
--! qt:replace:/[0-9,]+ bytes/# bytes/
--! qt:replace:/\n    \w+ [\d,]+ values?.*//
-- Joins, set operations and subqueries: small ones in one native query, the others on Spark over what each side can push.
CREATE EXTERNAL TABLE src (timecolumn timestamp, dimension1 string, dimension2 string, metric1 int, metric2 float)
STORED AS JSONFILE LOCATION '${dir}/data/src';
CREATE EXTERNAL TABLE ev STORED BY 'druid' TBLPROPERTIES('druid.rollup' = 'false') AS SELECT timecolumn AS `__time`, dimension1, dimension2, metric1 FROM src;
CREATE TABLE names (code string, name string) STORED AS ORC;
INSERT INTO names VALUES ('a', 'Anna'), ('b', 'Berta'), ('c', NULL);
SELECT * FROM names ORDER BY code;
-- so that both engines plan by the same figures
ANALYZE TABLE ev COMPUTE STATISTICS FOR COLUMNS;
EXPLAIN SELECT n.name, sum(e.metric1) s FROM ev e JOIN names n ON e.dimension1 = n.code WHERE e.metric1 < 3 GROUP BY n.name;
SELECT n.name, sum(e.metric1) s FROM ev e JOIN names n ON e.dimension1 = n.code GROUP BY n.name ORDER BY n.name;
SELECT x.code, y.s, z.k FROM ((SELECT code FROM names) x JOIN (SELECT dimension1, sum(metric1) s FROM ev GROUP BY dimension1) y ON x.code = y.dimension1) JOIN TABLE (VALUES ('a', 1), ('b', 2)) AS z (c, k) ON z.c = x.code ORDER BY x.code;
SELECT n.code, e.metric1 FROM names n LEFT JOIN ev e ON e.dimension1 = n.code ORDER BY n.code, e.metric1;
SELECT n.code FROM names n LEFT SEMI JOIN ev e ON e.dimension1 = n.code ORDER BY n.code;
SELECT code FROM names WHERE code NOT IN (SELECT dimension1 FROM ev WHERE dimension1 IS NOT NULL) ORDER BY code;
SELECT code FROM names n WHERE EXISTS (SELECT 1 FROM ev e WHERE e.dimension1 = n.code AND e.metric1 > 2);
SELECT metric1 FROM ev WHERE metric1 > (SELECT avg(metric1) FROM ev) ORDER BY metric1;
SELECT dimension1 FROM ev UNION SELECT code FROM names ORDER BY dimension1;
SELECT dimension1 k FROM ev INTERSECT SELECT code FROM names ORDER BY k;
EXPLAIN EXTENDED SELECT dimension1, row_number() OVER (PARTITION BY dimension1 ORDER BY `__time`) r FROM ev WHERE metric1 > 0;
SELECT dimension1, metric1, row_number() OVER (PARTITION BY dimension1 ORDER BY metric1) r FROM ev ORDER BY metric1;
SELECT w, count(*) FROM ev LATERAL VIEW explode(split('x y', ' ')) t AS w GROUP BY w ORDER BY w;
SELECT count(*) FROM (SELECT explode(split('a,b,c', ','))) t;
SELECT dimension1 FROM (SELECT posexplode(split('x y', ' ')) AS (p, w), dimension1, metric1 FROM ev) t WHERE metric1 < 2;
SELECT dimension1, collect_set(metric1) FROM ev WHERE dimension1 = 'b' GROUP BY dimension1;
SELECT initcap(dimension1), metric1 FROM ev WHERE dimension1 IS NOT NULL ORDER BY `__time` LIMIT 3;
CREATE EXTERNAL TABLE dim STORED BY 'druid' TBLPROPERTIES('druid.rollup' = 'false') AS SELECT timecolumn AS `__time`, dimension1 code, metric1 n FROM src WHERE metric1 < 4;
EXPLAIN SELECT d.n, count(*) c, sum(e.metric1) s FROM ev e JOIN dim d ON e.dimension1 = d.code WHERE e.`__time` < '2016-01-01' GROUP BY d.n;
SELECT d.n, count(*) c, sum(e.metric1) s FROM ev e JOIN dim d ON e.dimension1 = d.code GROUP BY d.n ORDER BY d.n;
SELECT e.metric1, d.n FROM ev e LEFT JOIN dim d ON e.dimension1 = d.code ORDER BY e.metric1, d.n;
SELECT e.metric1, d.n FROM ev e LEFT JOIN dim d ON e.dimension1 <=> d.code ORDER BY e.metric1, d.n;
SELECT metric1 FROM ev WHERE dimension1 IN (SELECT code FROM dim WHERE n > 1) ORDER BY metric1;
SELECT metric1 FROM ev e WHERE NOT EXISTS (SELECT 1 FROM dim d WHERE d.code = e.dimension1) ORDER BY metric1;
SELECT metric1 FROM ev WHERE dimension1 NOT IN (SELECT code FROM dim) ORDER BY metric1;
SELECT metric1, (SELECT count(*) FROM dim d WHERE d.code = e.dimension1) n FROM ev e ORDER BY metric1;
SELECT count(*) FROM ev WHERE metric1 > (SELECT avg(n) FROM dim);
SELECT dimension1 FROM ev WHERE metric1 < 4 INTERSECT SELECT dimension1 FROM ev WHERE metric1 > 1 ORDER BY dimension1;
SELECT dimension1 FROM ev EXCEPT SELECT dimension1 FROM ev WHERE metric1 > 1 ORDER BY dimension1;
EXPLAIN SELECT dimension1, count(*) FROM (SELECT dimension1 FROM ev WHERE metric1 < 4 UNION ALL SELECT dimension1 FROM ev WHERE metric1 > 1) x GROUP BY dimension1;
SELECT dimension1, count(*) c FROM (SELECT dimension1 FROM ev WHERE metric1 < 4 UNION ALL SELECT dimension1 FROM ev WHERE metric1 > 1) x GROUP BY dimension1 ORDER BY dimension1;
SELECT k, count(*) c FROM (SELECT dimension1 k FROM ev UNION ALL SELECT code FROM dim UNION ALL SELECT code FROM names) x GROUP BY k ORDER BY k;
-- the keys of a small table become a filter of a big one
CREATE EXTERNAL TABLE big STORED BY 'druid' TBLPROPERTIES('druid.rollup' = 'false') AS SELECT timecolumn AS `__time`, dimension1 code, pos n FROM src LATERAL VIEW posexplode(split(space(99), ' ')) p AS pos, x;
ANALYZE TABLE names COMPUTE STATISTICS;
EXPLAIN SELECT b.n, n.name FROM big b JOIN names n ON b.code = n.code WHERE n.name = 'Berta' AND b.n > 96;
SELECT b.n, n.name FROM big b JOIN names n ON b.code = n.code WHERE n.name = 'Berta' AND b.n > 96 ORDER BY b.n, n.name;
SELECT b.n FROM big b LEFT SEMI JOIN names n ON b.code = n.code AND b.n > length(n.name) + 91 ORDER BY b.n;
-- a key that determines the day of the times restricts the intervals, too
CREATE TABLE days (k int, day date, is_weekend boolean) STORED AS ORC;
INSERT INTO days SELECT DISTINCT datediff(timecolumn, '2015-01-01'), CAST(timecolumn AS DATE), dayofweek(timecolumn) IN (1, 7) FROM src;
SELECT * FROM days ORDER BY k;
CREATE EXTERNAL TABLE sold STORED BY 'druid' TBLPROPERTIES('druid.rollup' = 'false', 'hivedruid.time.references' = 'day_k: days(k, day)') AS SELECT b.`__time`, b.n, d.k AS day_k FROM big b JOIN days d ON CAST(b.`__time` AS DATE) = d.day;
ANALYZE TABLE days COMPUTE STATISTICS;
EXPLAIN SELECT count(*) FROM sold s JOIN days d ON s.day_k = d.k WHERE d.is_weekend;
SELECT d.day, count(*) FROM sold s JOIN days d ON s.day_k = d.k WHERE d.is_weekend GROUP BY d.day ORDER BY d.day;
SELECT d.day, count(*) FROM sold s JOIN days d ON s.day_k + 0 = d.k WHERE d.is_weekend GROUP BY d.day ORDER BY d.day;
ALTER TABLE sold SET TBLPROPERTIES('hivedruid.time.references' = 'day: days(k, day)');
ALTER TABLE sold SET TBLPROPERTIES('hivedruid.time.references' = 'day_k = days.k');
INSERT OVERWRITE TABLE names VALUES ('z', 'Zoe');
SELECT * FROM names;
TRUNCATE TABLE names;
SELECT count(*) FROM names;
DROP TABLE names;
