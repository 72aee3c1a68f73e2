--! qt:replace:/bytes: [0-9]+/bytes: (size)/
-- A tiered table: new rows in Druid, archived rows in an Iceberg table, one answer.
SET hivedruid.now=2026-11-24 12:00:00;
CREATE TABLE trips (`__time` TIMESTAMP, city STRING, fare DOUBLE, riders BIGINT) STORED AS TIERED
TBLPROPERTIES ('druid.rollup' = 'false', 'druid.segment.granularity' = 'DAY', 'tiered.hot.period' = 'P30D');
SHOW CREATE TABLE trips;
INSERT INTO trips VALUES
  ('2026-09-01 08:00:00', 'Oslo', 10.5, 1),
  ('2026-09-02 09:00:00', 'Rome', 20.0, 2),
  ('2026-11-20 10:00:00', 'Oslo', 7.25, 3),
  ('2026-11-21 11:00:00', NULL, NULL, 4);
-- nothing is archived yet: Druid answers
EXPLAIN SELECT city, sum(riders) FROM trips GROUP BY city;
EXPLAIN ARCHIVE TABLE trips;
ARCHIVE TABLE trips AND WAIT;
SELECT * FROM trips ORDER BY riders;
-- both parts
EXPLAIN SELECT city, sum(riders) FROM trips GROUP BY city;
SELECT city, count(*), sum(riders), avg(fare), min(fare), max(`__time`) FROM trips GROUP BY city ORDER BY 1;
SELECT count(DISTINCT city) FROM trips;
-- Druid's share is aggregated, also below DISTINCT, HAVING, ORDER BY and LIMIT
EXPLAIN SELECT city, count(DISTINCT riders) AS n, count(*) FROM trips GROUP BY city HAVING n > 0 ORDER BY n DESC LIMIT 2;
SELECT city, count(DISTINCT riders) AS n, count(*) FROM trips GROUP BY city HAVING n > 0 ORDER BY n DESC, city LIMIT 2;
SELECT count(DISTINCT city, riders), sum(DISTINCT riders), count(DISTINCT CASE WHEN riders > 1 THEN city END) FROM trips;
SELECT approx_count_distinct(city), sort_array(collect_set(city)), bit_or(riders), bit_xor(riders) FROM trips;
SELECT min(city), max(city), count(city), min(riders > 2), max(riders > 2), min(`__time`), count(`__time`) FROM trips;
SELECT riders > 2, min(city), max(`__time`) FROM trips GROUP BY riders > 2 ORDER BY 1;
-- but not variances: their last digits depend on how they are computed
SELECT round(stddev(riders), 9), round(var_samp(fare), 9), round(corr(fare, riders), 9) FROM trips;
-- only Druid: no file can have such rows
EXPLAIN SELECT count(*) FROM trips WHERE `__time` >= '2026-11-01';
SELECT count(*) FROM trips WHERE `__time` >= '2026-11-01';
-- only the cold part: Druid has no rows of these times any more
EXPLAIN SELECT city FROM trips WHERE `__time` < '2026-09-02';
SELECT city FROM trips WHERE `__time` < '2026-09-02';
-- no part: neither Druid nor a file has rows of these times
EXPLAIN SELECT city FROM trips WHERE `__time` < '2026-08-01';
-- FORMATTED counts all segments
EXPLAIN FORMATTED SELECT city FROM trips WHERE `__time` >= '2026-11-21';
-- a late row in Druid is visible at once, and a later ARCHIVE adds just it
SET hivedruid.tiered.write=hot;
INSERT INTO trips VALUES ('2026-09-01 23:00:00', 'late', 1.0, 5);
SELECT city, riders FROM trips WHERE `__time` < '2026-10-01' ORDER BY riders;
ARCHIVE TABLE trips UP TO '2026-10-01';
ARCHIVE TABLE trips UP TO '2026-10-01';
RESET hivedruid.tiered.write;
SELECT city, riders FROM trips WHERE `__time` < '2026-10-01' ORDER BY riders;
SELECT a.city, b.riders FROM trips a JOIN trips b ON a.city = b.city WHERE a.riders < b.riders;
SET hivedruid.tiered.read=hot;
SELECT count(*) FROM trips;
SET hivedruid.tiered.read=cold;
SELECT count(*) FROM trips;
EXPLAIN SELECT count(*) FROM trips;
RESET hivedruid.tiered.read;
-- DDL concerns both parts
ALTER TABLE trips ADD COLUMNS (tip DOUBLE);
SELECT riders, tip FROM trips ORDER BY riders LIMIT 2;
ALTER TABLE trips RENAME TO rides;
SELECT count(*) FROM rides;
-- what would concern only one part is refused
ALTER TABLE rides UNSET TIERED;
ALTER TABLE rides SET TBLPROPERTIES ('druid.datasource' = 'other');
CREATE MATERIALIZED VIEW v AS SELECT city, sum(riders) AS riders FROM rides GROUP BY city;
CREATE TABLE copy STORED AS ORC AS SELECT city, riders FROM rides;
SELECT count(*), sum(riders) FROM copy;
TRUNCATE TABLE rides;
SELECT count(*) FROM rides;
ALTER TABLE rides UNSET TIERED;
ARCHIVE TABLE rides;
ALTER TABLE rides SET TIERED ('tiered.hot.period' = 'P1D');
ARCHIVE TABLE rides UP TO 'yesterday';
ARCHIVE TABLE rides;
CREATE TABLE s (`__time` TIMESTAMP, u STRING) STORED AS TIERED TBLPROPERTIES ('druid.columns.aggregators' = 'u:thetaSketch(x)');
CREATE TABLE s (`__time` TIMESTAMP, a STRING) STORED BY 'druid' STORED AS TIERED;
CREATE TABLE s (`__time` TIMESTAMP, a STRING) STORED BY 'druid' TBLPROPERTIES ('tiered.cold' = 'orc');
ARCHIVE TABLE copy;
ARCHIVE rides;
VERIFY TABLE rides FROM 'yesterday';
VERIFY TABLE rides FROM '2026-10-02' TO '2026-10-01';
VERIFY TABLE rides TO '2026-10-02' FROM '2026-10-01';
VERIFY TABLE rides FROM '2026-10-01' UP TO '2026-10-02';
DROP TABLE rides;
DROP TABLE copy;
