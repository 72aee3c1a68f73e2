-- Wikipedia edits from Kafka into Druid: the life cycle of an ingestion, on the local cluster.
-- hivedruid sql --yes --hivevar kafka=$(hivedruid sample wikiticker --topic wiki-edits) -f examples/ingestion.q

--! qt:replace:/127\.0\.0\.1:\d+/KAFKA/
--! qt:replace:/index_kafka_[\w.]+/TASK/
--! qt:replace:/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?( UTC)?/TIME/
--! qt:replace:/\d of (\d+) free/N of $1 free/
--! qt:replace:/^(TASK\t.*\t)\d+\.\d(\tKAFKA)/$1SECONDS$2/
--! qt:replace:/^(default\.wiki_edits\twiki-edits\t[A-Z]+\t\S+\t\S+\t\d+\t)\S+\t\S+/$1SECONDS\tSPEED/

-- Field names of JSON are case-sensitive, columns are lower case: druid.columns.mapping maps the fields to columns.
CREATE EXTERNAL TABLE wiki_edits (
  `__time` TIMESTAMP, channel STRING, cityname STRING, page STRING, `user` STRING, isnew BOOLEAN, isrobot BOOLEAN,
  added BIGINT, deleted BIGINT)
STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler'
TBLPROPERTIES (
  'kafka.topic' = 'wiki-edits', 'kafka.bootstrap.servers' = '${hivevar:kafka}',
  'druid.timestamp.column' = 'time', 'druid.segment.granularity' = 'DAY', 'druid.rollup' = 'false',
  'druid.columns.mapping' = 'cityName:cityname, isNew:isnew, isRobot:isrobot',
  'druid.kafka.ingestion.useEarliestOffset' = 'true', 'druid.kafka.ingestion.taskCount' = '2',
  'druid.kafka.ingestion.startDelay' = 'PT0S', 'druid.kafka.ingestion.period' = 'PT5S',
  'druid.kafka.ingestion.offsetFetchPeriod' = 'PT1S');

-- EXPLAIN shows the spec that START would submit, and the free task slots.
EXPLAIN ALTER TABLE wiki_edits SET TBLPROPERTIES ('druid.kafka.ingestion' = 'START');
ALTER TABLE wiki_edits SET TBLPROPERTIES ('druid.kafka.ingestion' = 'START');

-- Wait until every record that is in Kafka now has been read.
WAIT INGESTION wiki_edits;
SELECT count(*) AS edits, sum(added) AS added FROM wiki_edits;
SELECT channel, count(*) AS edits FROM wiki_edits GROUP BY channel ORDER BY edits DESC LIMIT 3;

-- The running ingestion, and its problems: none.
SHOW INGESTIONS LIKE 'wiki*';
SHOW TASKS FOR wiki_edits WHERE STATE = 'RUNNING';
SHOW PROBLEMS;
DESCRIBE EXTENDED wiki_edits;

SUSPEND INGESTION wiki_edits;
SHOW INGESTIONS LIKE 'wiki*';
RESUME INGESTION wiki_edits;

-- ALTER shows the difference and submits the new spec to the supervisor. ROLLBACK restores the previous one.
ALTER TABLE wiki_edits SET TBLPROPERTIES ('druid.kafka.ingestion.taskCount' = '1');
ALTER TABLE wiki_edits ROLLBACK INGESTION;

-- RESET reports how many records are lost or read again, and requires a confirmation or --yes.
EXPLAIN RESET INGESTION wiki_edits TO OFFSETS (0:19612);
RESET INGESTION wiki_edits TO OFFSETS (0:19612);
WAIT INGESTION wiki_edits;
SELECT count(*) AS edits FROM wiki_edits;

ALTER TABLE wiki_edits SET TBLPROPERTIES ('druid.kafka.ingestion' = 'STOP');
SHOW INGESTIONS LIKE 'wiki*';
SELECT count(*) AS edits FROM wiki_edits;

-- PURGE deletes the segments and the offsets, too.
DROP TABLE wiki_edits PURGE;
SHOW PROBLEMS;
