-- Wikipedia edits of 12 September 2015 in Druid, with Hive statements.
-- The long tour; examples/quickstart.q is the short one. Run it with
-- hivedruid sql --hivevar wikiticker=$(hivedruid sample wikiticker) -f examples/wikiticker.q
-- It can be rerun after an interruption: existing tables are kept, and unfinished jobs are resumed.

-- An external table: the JSON file is not copied. Field names are matched case-insensitively.
CREATE EXTERNAL TABLE IF NOT EXISTS edits (
  `time` timestamp with local time zone, channel string, cityname string, comment string, countryname string,
  isanonymous boolean, isminor boolean, isnew boolean, isrobot boolean, namespace string, page string, `user` string,
  added bigint, deleted bigint, delta bigint)
STORED AS JSONFILE
LOCATION '${hivevar:wikiticker}';

-- EXPLAIN of CREATE … AS SELECT.
EXPLAIN
CREATE EXTERNAL TABLE IF NOT EXISTS druid_wiki
STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler'
TBLPROPERTIES ('druid.segment.granularity' = 'HOUR', 'druid.query.granularity' = 'NONE', 'druid.rollup' = 'false')
AS SELECT `time` AS `__time`, channel, cityname, countryname, isanonymous, isrobot, namespace, page, `user`, added, deleted, delta
FROM edits;

-- The rows of the file are read by hivedruid itself, or by a Spark job, and Druid ingests them.
CREATE EXTERNAL TABLE IF NOT EXISTS druid_wiki
STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler'
TBLPROPERTIES ('druid.segment.granularity' = 'HOUR', 'druid.query.granularity' = 'NONE', 'druid.rollup' = 'false')
AS SELECT `time` AS `__time`, channel, cityname, countryname, isanonymous, isrobot, namespace, page, `user`, added, deleted, delta
FROM edits;

-- A scan: rows ordered by time, with a limit.
EXPLAIN SELECT `__time`, channel, page, added FROM druid_wiki ORDER BY `__time` LIMIT 10;
SELECT `__time`, channel, page, added FROM druid_wiki ORDER BY `__time` LIMIT 10;

-- A timeseries: floor_month and floor_hour are Druid granularities.
EXPLAIN SELECT `floor_month`(`__time`), max(delta), sum(added) FROM druid_wiki GROUP BY `floor_month`(`__time`);
SELECT `floor_month`(`__time`), max(delta), sum(added) FROM druid_wiki GROUP BY `floor_month`(`__time`);
EXPLAIN SELECT `floor_hour`(`__time`) AS hour, count(*) AS edits, sum(added) AS added FROM druid_wiki GROUP BY `floor_hour`(`__time`) ORDER BY hour;
SELECT `floor_hour`(`__time`) AS hour, count(*) AS edits, sum(added) AS added FROM druid_wiki GROUP BY `floor_hour`(`__time`) ORDER BY hour;

-- The whole table in one row: granularity "all".
EXPLAIN SELECT max(delta), sum(added) FROM druid_wiki;
SELECT max(delta), sum(added) FROM druid_wiki;

-- Grouped by the time itself.
EXPLAIN SELECT `__time`, max(delta), sum(added) FROM druid_wiki GROUP BY `__time` ORDER BY `__time` LIMIT 5;
SELECT `__time`, max(delta), sum(added) FROM druid_wiki GROUP BY `__time` ORDER BY `__time` LIMIT 5;

-- groupBy with ORDER BY and LIMIT.
EXPLAIN SELECT channel, sum(added) AS s FROM druid_wiki GROUP BY channel ORDER BY s DESC LIMIT 10;
SELECT channel, sum(added) AS s FROM druid_wiki GROUP BY channel ORDER BY s DESC LIMIT 10;

-- Conditions on the time become intervals; only their segments are read.
EXPLAIN SELECT count(*) FROM druid_wiki
WHERE (`__time` BETWEEN '2015-09-12 01:00:00 UTC' AND '2015-09-12 02:00:00 UTC')
   OR (`__time` BETWEEN '2015-09-12 22:00:00 UTC' AND '2015-09-12 23:00:00 UTC');
SELECT count(*) FROM druid_wiki
WHERE (`__time` BETWEEN '2015-09-12 01:00:00 UTC' AND '2015-09-12 02:00:00 UTC')
   OR (`__time` BETWEEN '2015-09-12 22:00:00 UTC' AND '2015-09-12 23:00:00 UTC');

-- A join with an ORC table: Druid computes its side, Spark joins. EXTENDED shows what runs outside Druid, and why.
DROP TABLE IF EXISTS languages;
CREATE TABLE languages (channel string, language string) STORED AS ORC;
INSERT INTO languages VALUES
  ('#en.wikipedia', 'English'), ('#fr.wikipedia', 'French'), ('#de.wikipedia', 'German'), ('#vi.wikipedia', 'Vietnamese');
EXPLAIN EXTENDED SELECT l.language, sum(w.added) AS added FROM druid_wiki w JOIN languages l ON w.channel = l.channel
WHERE NOT w.isrobot GROUP BY l.language ORDER BY added DESC;
SELECT l.language, sum(w.added) AS added FROM druid_wiki w JOIN languages l ON w.channel = l.channel
WHERE NOT w.isrobot GROUP BY l.language ORDER BY added DESC;

-- INSERT INTO adds rows, INSERT OVERWRITE replaces all rows, in one step.
DROP TABLE IF EXISTS druid_channels;
CREATE EXTERNAL TABLE druid_channels (`__time` timestamp with local time zone, channel string, edits bigint, added bigint) STORED BY 'druid';
INSERT INTO druid_channels SELECT floor_day(`__time`), channel, count(*), sum(added) FROM druid_wiki WHERE NOT isrobot GROUP BY floor_day(`__time`), channel;
INSERT INTO druid_channels SELECT floor_day(`__time`), channel, count(*), sum(added) FROM druid_wiki WHERE isrobot GROUP BY floor_day(`__time`), channel;
SELECT count(*), sum(edits), sum(added) FROM druid_channels;
EXPLAIN INSERT OVERWRITE TABLE druid_channels SELECT `__time`, channel, edits, added FROM druid_channels WHERE edits > 1000;
INSERT OVERWRITE TABLE druid_channels SELECT `__time`, channel, edits, added FROM druid_channels WHERE edits > 1000;
SELECT channel, sum(edits) AS edits FROM druid_channels GROUP BY channel ORDER BY edits DESC;

DROP TABLE druid_channels;
DROP TABLE languages;
SHOW TABLES;
