-- make quickstart runs this: 39,244 real edits of Wikipedia, of 12 September 2015, from a JSON file into Druid.
-- It can be run again after an interruption: what is there already is left alone, and an unfinished job goes on.

-- The file stays where it is.
CREATE EXTERNAL TABLE IF NOT EXISTS edits (
  `time` timestamp with local time zone, channel string, page string, isrobot boolean, added bigint, deleted bigint)
STORED AS JSONFILE
LOCATION '${hivevar:wikiticker}';

-- Spark reads it, Druid ingests it: with a segment for each hour.
CREATE EXTERNAL TABLE IF NOT EXISTS wiki
STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler'
TBLPROPERTIES ('druid.segment.granularity' = 'HOUR', 'druid.rollup' = 'false')
AS SELECT `time` AS `__time`, channel, page, isrobot, added, deleted FROM edits;

-- From here on Druid answers alone, in milliseconds.
SELECT count(*) AS edits, sum(added) AS added, max(added) AS longest FROM wiki;

SELECT channel, sum(added) AS added FROM wiki WHERE NOT isrobot GROUP BY channel ORDER BY added DESC LIMIT 5;

-- A function of Hive on the time is a granularity of Druid, a condition on it an interval.
SELECT floor_hour(`__time`) AS hour, count(*) AS edits
FROM wiki WHERE `__time` >= '2015-09-12 18:00:00 UTC' GROUP BY floor_hour(`__time`) ORDER BY hour;

-- What Druid cannot say is computed over the rows of what it can.
SELECT channel, edits, rank() OVER (ORDER BY edits DESC) AS place
FROM (SELECT channel, count(*) AS edits FROM wiki GROUP BY channel) c ORDER BY place LIMIT 3;
