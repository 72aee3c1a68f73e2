-- What Hive's rewriting got wrong (Hive 4.0.1); every answer here is the right one.
CREATE EXTERNAL TABLE ev (`__time` timestamp, country string, clicks bigint, flag boolean, score double)
STORED BY 'druid' TBLPROPERTIES('druid.rollup' = 'false');
INSERT INTO ev VALUES
  ('2020-01-01 00:00:00', 'US', 5, true, 1.5), ('2020-01-01 03:30:00', 'FR', 12, false, NULL),
  ('2020-01-02 12:00:00', NULL, 25, NULL, -1.0), ('2020-02-15 23:59:59.999', 'DE', NULL, true, 0.0),
  ('2021-03-01 03:00:00', 'OBrien', 5, false, 2.5);
-- 1 the negation of BETWEEN and of a pair of bounds was lost
SELECT country FROM ev WHERE clicks NOT BETWEEN 5 AND 10 ORDER BY country;
SELECT country FROM ev WHERE clicks < 10 OR clicks > 20 ORDER BY country;
SELECT country FROM ev WHERE `__time` NOT BETWEEN '2020-01-01' AND '2020-01-31' ORDER BY country;
SELECT country, sum(clicks) FROM ev GROUP BY country HAVING sum(clicks) NOT BETWEEN 10 AND 20 ORDER BY country;
-- 2 the last bucket of floor_x BETWEEN was cut to one millisecond
SELECT country FROM ev WHERE floor_day(`__time`) BETWEEN '2020-01-01 00:00:00' AND '2020-01-02 00:00:00' ORDER BY country;
SELECT country FROM ev WHERE floor_month(`__time`) IN ('2020-02-01 00:00:00', '2021-03-01 00:00:00') ORDER BY country;
-- 3 a branch of OR that is no interval was dropped
SELECT country FROM ev WHERE `__time` < '2020-01-01 01:00:00' OR hour(`__time`) = 3 ORDER BY country;
-- 4 SELECT * failed
SELECT * FROM ev ORDER BY `__time`;
-- 5 EXPLAIN FORMATTED did not show the push-down
EXPLAIN FORMATTED SELECT country, count(*) FROM ev GROUP BY country;
-- 6 <>, NOT IN and NOT LIKE returned rows with NULL
SELECT country FROM ev WHERE country <> 'US' ORDER BY country;
SELECT country FROM ev WHERE country NOT IN ('US', 'FR') ORDER BY country;
SELECT country FROM ev WHERE country NOT LIKE 'U%' ORDER BY country;
-- 7 sum(DISTINCT x) was the plain sum
SELECT sum(DISTINCT clicks), sum(clicks) FROM ev;
-- 8 casts of group keys and of scanned columns vanished
SELECT CAST(`__time` AS string) t, count(*) FROM ev GROUP BY CAST(`__time` AS string) ORDER BY t;
SELECT CAST(score AS bigint), CAST(country AS varchar(2)) FROM ev ORDER BY `__time`;
-- 9 CAST(timestamp AS date) used the session's zone
SET hive.local.time.zone=US/Pacific;
SELECT CAST(`__time` AS date) d, count(*) FROM ev GROUP BY CAST(`__time` AS date) ORDER BY d;
SET hive.local.time.zone=UTC;
-- 10 one conjunct that is no interval switched intervals off for all
EXPLAIN SELECT count(*) FROM ev WHERE `__time` >= '2020-01-01' AND `__time` < '2020-02-01' AND hour(`__time`) = 3;
SELECT count(*) FROM ev WHERE `__time` >= '2020-01-01' AND `__time` < '2020-02-01' AND hour(`__time`) = 3;
-- 11 year IN and BETWEEN never became intervals
EXPLAIN SELECT count(*) FROM ev WHERE year(`__time`) BETWEEN 2019 AND 2020;
SELECT count(*) FROM ev WHERE year(`__time`) IN (2019, 2020);
-- 12 sum over nothing was 0, null metrics 0, booleans false
SELECT sum(clicks), min(score) FROM ev WHERE country = 'nowhere';
SELECT clicks, flag FROM ev ORDER BY `__time`;
-- 15 adjacent literals are one text
SELECT clicks FROM ev WHERE country = 'O''Brien';
