-- Materialized views: made, used by queries of their tables, stale after a write, rebuilt where something has changed.
--! qt:replace:/\nFigures:\n( +.*\n)+//
CREATE EXTERNAL TABLE ev (`__time` timestamp, country string, city string, clicks bigint, n int, revenue double) STORED BY 'druid'
TBLPROPERTIES ('druid.rollup' = 'false', 'druid.segment.granularity' = 'DAY');
INSERT INTO ev VALUES ('2020-01-01 01:00:00', 'US', 'A', 1, 1, 0.5), ('2020-01-01 23:00:00', 'US', 'B', 2, NULL, NULL), ('2020-01-02 05:00:00', 'NO', 'C', NULL, 4, 1.5), ('2020-02-03 00:00:00', 'NO', NULL, 7, 5, -1.5);
CREATE MATERIALIZED VIEW daily STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler' AS
SELECT floor_day(`__time`) AS `__time`, country, count(*) AS rows_in, sum(clicks) AS clicks, sum(revenue) AS revenue, sum(n) AS n, count(n) AS cn, max(clicks) AS most
FROM ev GROUP BY floor_day(`__time`), country;
CREATE MATERIALIZED VIEW IF NOT EXISTS daily STORED BY 'druid' AS SELECT `__time`, city FROM ev;
CREATE MATERIALIZED VIEW daily STORED BY 'druid' AS SELECT `__time`, city FROM ev;
SHOW MATERIALIZED VIEWS;
SHOW TABLES;
SELECT * FROM daily ORDER BY `__time`, country;
-- Used: rolled up further, with conditions on what the view has.
EXPLAIN EXTENDED SELECT country, sum(clicks), count(*), avg(n) FROM ev GROUP BY country;
SELECT country, sum(clicks), count(*), avg(n), max(clicks) FROM ev GROUP BY country ORDER BY country;
SELECT floor_month(`__time`) AS month, sum(revenue) FROM ev WHERE `__time` >= '2020-01-01' AND `__time` < '2020-02-01' GROUP BY floor_month(`__time`);
SELECT count(*), sum(clicks) FROM ev WHERE country = 'XX';
SELECT year(`__time`), count(DISTINCT country) FROM ev GROUP BY year(`__time`);
-- Not used: it has not the city, nor the hour.
EXPLAIN EXTENDED SELECT city, count(*) FROM ev GROUP BY city;
SELECT hour(`__time`) AS h, count(*) FROM ev GROUP BY hour(`__time`) ORDER BY h;
-- Stale after a write, and correct all the same.
INSERT INTO ev VALUES ('2020-02-03 10:00:00', 'US', 'A', 100, 2, 0.5);
SHOW MATERIALIZED VIEWS LIKE 'd*';
EXPLAIN EXTENDED SELECT country, sum(clicks) FROM ev GROUP BY country;
SELECT country, sum(clicks) FROM ev GROUP BY country ORDER BY country;
SET hive.materializedview.rewriting.time.window=-1s;
SELECT country, sum(clicks) FROM ev GROUP BY country ORDER BY country;
RESET hive.materializedview.rewriting.time.window;
-- Rebuilt: the day that has changed.
EXPLAIN ALTER MATERIALIZED VIEW daily REBUILD;
ALTER MATERIALIZED VIEW daily REBUILD;
SELECT `__time`, country, rows_in, clicks FROM daily ORDER BY `__time`, country;
SHOW MATERIALIZED VIEWS;
SELECT country, sum(clicks) FROM ev GROUP BY country ORDER BY country;
ALTER MATERIALIZED VIEW daily REBUILD;
-- Rows that are gone are gone after a rebuild, too.
INSERT OVERWRITE TABLE ev SELECT * FROM ev WHERE country = 'US';
ALTER MATERIALIZED VIEW daily REBUILD;
SELECT `__time`, country, rows_in, clicks FROM daily ORDER BY `__time`, country;
-- What can be said of it, and what cannot be done to it.
DESCRIBE daily;
DESCRIBE FORMATTED daily;
SHOW CREATE TABLE daily;
INSERT INTO daily SELECT * FROM daily;
TRUNCATE TABLE daily;
ALTER TABLE daily ADD COLUMNS (x int);
ALTER TABLE daily RENAME TO weekly;
CREATE TABLE twin LIKE daily;
DROP TABLE daily;
DROP VIEW daily;
DROP TABLE ev;
ALTER TABLE ev RENAME TO ev2;
ALTER MATERIALIZED VIEW ev REBUILD;
DROP MATERIALIZED VIEW ev;
ALTER MATERIALIZED VIEW daily DISABLE REWRITE;
SHOW MATERIALIZED VIEWS;
EXPLAIN EXTENDED SELECT country, sum(clicks) FROM ev GROUP BY country;
ALTER MATERIALIZED VIEW daily ENABLE REWRITE;
SET hive.materializedview.rewriting=false;
EXPLAIN SELECT country, sum(clicks) FROM ev GROUP BY country;
RESET hive.materializedview.rewriting;
-- Of a table on the Hive side, without Druid's clause: a table on the Hive side.
CREATE TABLE facts (t timestamp, k string, x decimal(10,2));
INSERT INTO facts VALUES ('2020-01-01 00:00:00.000001', 'a', 1.25), ('2020-01-02 00:00:00', 'a', 2.50), ('2020-01-02 00:00:00', 'b', NULL);
CREATE MATERIALIZED VIEW by_k AS SELECT k, sum(x) AS s, count(x) AS c, max(t) AS latest FROM facts GROUP BY k;
EXPLAIN EXTENDED SELECT sum(x) FROM facts WHERE k = 'a';
SELECT sum(x), max(t) FROM facts WHERE k = 'a';
INSERT INTO facts VALUES ('2020-01-03 00:00:00', 'a', 10);
SHOW MATERIALIZED VIEWS LIKE 'by*';
SELECT sum(x), max(t) FROM facts WHERE k = 'a';
ALTER MATERIALIZED VIEW by_k REBUILD;
SELECT sum(x), max(t) FROM facts WHERE k = 'a';
SHOW MATERIALIZED VIEWS LIKE 'by*';
-- A temporary table hides the view's table from queries, and not from the view.
CREATE TEMPORARY TABLE facts LIKE facts;
INSERT INTO facts VALUES ('2021-01-01 00:00:00', 'a', 0.5);
EXPLAIN SELECT sum(x) FROM facts WHERE k = 'a';
SELECT sum(x), max(t) FROM facts WHERE k = 'a';
SHOW MATERIALIZED VIEWS LIKE 'by*';
ALTER MATERIALIZED VIEW by_k REBUILD;
SELECT k, s FROM by_k ORDER BY k;
DROP TABLE facts;
SELECT sum(x), max(t) FROM facts WHERE k = 'a';
-- Refused, or never used.
CREATE MATERIALIZED VIEW v STORED BY 'druid' AS SELECT country FROM ev;
CREATE MATERIALIZED VIEW v STORED BY 'druid' TBLPROPERTIES ('kafka.topic' = 't') AS SELECT `__time` FROM ev;
CREATE MATERIALIZED VIEW v STORED BY 'druid' TBLPROPERTIES ('rewriting.time.window' = 'soon') AS SELECT `__time` FROM ev;
CREATE MATERIALIZED VIEW latest AS SELECT country, clicks FROM ev ORDER BY clicks LIMIT 1;
CREATE MATERIALIZED VIEW recent AS SELECT country FROM ev WHERE `__time` > current_timestamp;
EXPLAIN EXTENDED SELECT country, clicks FROM ev ORDER BY clicks LIMIT 1;
SHOW MATERIALIZED VIEWS;
SHOW MATERIALIZED VIEWS IN nowhere;
DROP MATERIALIZED VIEW daily;
DROP MATERIALIZED VIEW IF EXISTS daily;
DROP MATERIALIZED VIEW latest;
DROP MATERIALIZED VIEW recent;
DROP TABLE ev;
SHOW MATERIALIZED VIEWS;
