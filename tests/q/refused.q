-- What is not supported says why, and what to do instead.
!ls;
dfs -ls /;
MSCK FOO TABLE t;
CREATE OR REPLACE MATERIALIZED VIEW mv AS SELECT 1;
CREATE TEMPORARY VIEW t AS SELECT 1;
ALTER TABLE t DROP COLUMN a;
SELECT TRANSFORM(a) USING 'cat' FROM t;
EXPLAIN SOURCE other.q;
SELECT a FROM nowhere;
SELEC 1;
SELECT FROM;
SELECT 1 +;
SET hivedruid.noww=true;
SET hive.local.time.zone=Mars/Base;
SET druid.url=ftp://x;
SELECT TIMESTAMP '2020-13-01 00:00:00';
SELECT DATE 'yesterday';
SELECT INTERVAL 'x' DAY;
SELECT sum(1) FROM (SELECT 1 AS a) x WHERE sum(a) > 1;
SELECT a, count(*) FROM (SELECT 1 AS a, 2 AS b) x GROUP BY b;
SELECT b FROM (SELECT 1 AS a) x;
SELECT length(), year(a) FROM (SELECT 1 AS a) x;
SELECT date_add(a) FROM (SELECT 1 AS a) x;
SELECT substr(a) FROM (SELECT 'a' AS a) x;
SELECT floor() FROM (SELECT 1 AS a) x;
SELECT a FROM (SELECT 1 AS a) x LIMIT 99999999999;

-- the embedded store does not ingest from Kafka
CREATE EXTERNAL TABLE fed (`__time` TIMESTAMP, d STRING) STORED BY 'druid'
TBLPROPERTIES ("kafka.bootstrap.servers" = "localhost:9092", "kafka.topic" = "topic1");
ALTER TABLE fed SET TBLPROPERTIES('druid.kafka.ingestion' = 'START');
ALTER TABLE fed SET TBLPROPERTIES('druid.kafka.ingestion' = 'STOP');
ALTER TABLE fed SET TBLPROPERTIES('druid.kafka.ingestion' = 'RESET');
