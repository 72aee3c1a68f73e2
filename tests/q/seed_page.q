-- The statements of the Hive wiki page about Druid, in runnable form.
-- SORT_QUERY_RESULTS
CREATE EXTERNAL TABLE src (timecolumn timestamp, dimension1 string, dimension2 string, metric1 int, metric2 float)
STORED AS JSONFILE LOCATION '${dir}/data/src';

CREATE EXTERNAL TABLE druid_table_1 (`__time` TIMESTAMP, `dimension1` STRING, `dimension2` STRING, `metric1` INT, `metric2` FLOAT)
STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler';

EXPLAIN CREATE EXTERNAL TABLE druid_ctas STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler'
AS SELECT `timecolumn` AS `__time`, `dimension1`, `dimension2`, `metric1`, `metric2` FROM src;

CREATE EXTERNAL TABLE druid_ctas STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler'
AS SELECT `timecolumn` AS `__time`, `dimension1`, `dimension2`, `metric1`, `metric2` FROM src;

SELECT * FROM druid_ctas;

-- an existing data source, its columns discovered
CREATE EXTERNAL TABLE druid_wiki STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler' TBLPROPERTIES ("druid.datasource" = "default.druid_ctas");
DESCRIBE druid_wiki;

EXPLAIN INSERT INTO TABLE druid_table_1 SELECT `timecolumn`, `dimension1`, `dimension2`, `metric1`, `metric2` FROM src;
INSERT INTO TABLE druid_table_1 SELECT `timecolumn`, `dimension1`, `dimension2`, `metric1`, `metric2` FROM src;
SELECT count(*) FROM druid_table_1;
INSERT INTO TABLE druid_table_1 SELECT `timecolumn`, `dimension1`, `dimension2`, `metric1`, `metric2` FROM src;
SELECT count(*) FROM druid_table_1;
EXPLAIN INSERT OVERWRITE TABLE druid_table_1 SELECT `timecolumn`, `dimension1`, `dimension2`, `metric1`, `metric2` FROM src;
INSERT OVERWRITE TABLE druid_table_1 SELECT `timecolumn`, `dimension1`, `dimension2`, `metric1`, `metric2` FROM src WHERE metric1 < 3;
SELECT * FROM druid_table_1;

EXPLAIN SELECT * FROM druid_wiki LIMIT 10;
SELECT * FROM druid_wiki LIMIT 10;
EXPLAIN SELECT `floor_month`(`__time`), max(metric1), sum(metric2) FROM druid_wiki GROUP BY `floor_month`(`__time`);
SELECT `floor_month`(`__time`), max(metric1), sum(metric2) FROM druid_wiki GROUP BY `floor_month`(`__time`);
EXPLAIN SELECT max(metric1), sum(metric2) FROM druid_wiki;
SELECT max(metric1), sum(metric2) FROM druid_wiki;
EXPLAIN SELECT `__time`, max(metric1), sum(metric2) FROM druid_wiki GROUP BY `__time`;
SELECT `__time`, max(metric1), sum(metric2) FROM druid_wiki GROUP BY `__time`;
EXPLAIN SELECT dimension1, sum(metric1) AS s FROM druid_wiki GROUP BY dimension1 ORDER BY s DESC, dimension1 LIMIT 10;
SELECT dimension1, sum(metric1) AS s FROM druid_wiki GROUP BY dimension1 ORDER BY s DESC, dimension1 LIMIT 10;
EXPLAIN SELECT `__time` FROM druid_wiki
WHERE (`__time` BETWEEN '2010-01-01 00:00:00' AND '2015-09-12 12:00:00') OR (`__time` BETWEEN '2016-01-01 00:00:00' AND '2017-01-01 00:00:00')
LIMIT 10;
SELECT `__time` FROM druid_wiki
WHERE (`__time` BETWEEN '2010-01-01 00:00:00' AND '2015-09-12 12:00:00') OR (`__time` BETWEEN '2016-01-01 00:00:00' AND '2017-01-01 00:00:00')
LIMIT 10;

CREATE EXTERNAL TABLE druid_kafka_table_1 (`__time` TIMESTAMP, `dimension1` STRING, `dimension2` STRING, `metric1` INT, `metric2` DOUBLE)
STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler'
TBLPROPERTIES ("kafka.bootstrap.servers" = "localhost:9092", "kafka.topic" = "topic1",
  "druid.kafka.ingestion.useEarliestOffset" = "true", "druid.kafka.ingestion.maxRowsInMemory" = "5",
  "druid.kafka.ingestion.startDelay" = "PT1S", "druid.kafka.ingestion.period" = "PT1S",
  "druid.kafka.ingestion.consumer.retries" = "2", "druid.kafka.ingestion.taskDuration" = "PT60S");
EXPLAIN CREATE EXTERNAL TABLE druid_kafka_table_2 (`__time` TIMESTAMP, `dimension1` STRING, `metric1` INT)
STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler'
TBLPROPERTIES ("kafka.bootstrap.servers" = "localhost:9092", "kafka.topic" = "topic1", "druid.kafka.ingestion.taskDuration" = "PT60S");
DROP TABLE druid_table_1;
SHOW TABLES;
