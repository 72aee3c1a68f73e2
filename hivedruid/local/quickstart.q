-- `hivedruid demo` and make quickstart run this script: it loads 39,244 Wikipedia edits of 12 September 2015 from a JSON file into Druid.
-- It can be rerun after an interruption: existing tables are kept, and an unfinished job is resumed.

-- The file is not copied.
CREATE EXTERNAL TABLE IF NOT EXISTS edits (
  `time` timestamp with local time zone, channel string, page string, isrobot boolean, added bigint, deleted bigint)
STORED AS JSONFILE
LOCATION '${hivevar:wikiticker}';

-- Druid ingests its rows, with a segment for each hour.
CREATE EXTERNAL TABLE IF NOT EXISTS wiki
STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler'
TBLPROPERTIES ('druid.segment.granularity' = 'HOUR', 'druid.rollup' = 'false')
AS SELECT `time` AS `__time`, channel, page, isrobot, added, deleted FROM edits;

-- From here on the queries run only in Druid, in milliseconds.
SELECT count(*) AS edits, sum(added) AS added, max(added) AS longest FROM wiki;

SELECT channel, sum(added) AS added FROM wiki WHERE NOT isrobot GROUP BY channel ORDER BY added DESC LIMIT 5;

-- A time function of Hive becomes a granularity of Druid, a condition on the time an interval.
SELECT floor_hour(`__time`) AS hour, count(*) AS edits
FROM wiki WHERE `__time` >= '2015-09-12 18:00:00 UTC' GROUP BY floor_hour(`__time`) ORDER BY hour;

-- What Druid cannot compute is computed over the rows of a native query.
SELECT channel, edits, rank() OVER (ORDER BY edits DESC) AS place
FROM (SELECT channel, count(*) AS edits FROM wiki GROUP BY channel) c ORDER BY place LIMIT 3;
