-- What is not supported says why, and what to do instead.
!ls;
dfs -ls /;
MSCK FOO TABLE t;
CREATE OR REPLACE MATERIALIZED VIEW mv AS SELECT 1;
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
-- partitions of tables in Druid and Kafka, and of views
ALTER TABLE fed ADD PARTITION (d = 'x');
ALTER TABLE fed EXCHANGE PARTITION (d = 'x') WITH TABLE fed;
ALTER TABLE fed PARTITION COLUMN (d INT);
SHOW PARTITIONS fed;
DESCRIBE fed PARTITION (d = 'x');
TRUNCATE TABLE fed PARTITION (d = 'x');
MSCK REPAIR TABLE fed;
INSERT INTO fed PARTITION (d = 'x') SELECT current_timestamp();
SELECT INPUT__FILE__NAME FROM fed;
CREATE EXTERNAL TABLE queue (a INT) STORED BY 'kafka' TBLPROPERTIES ('kafka.topic' = 't', 'kafka.bootstrap.servers' = 'localhost:1');
SHOW PARTITIONS queue;
SELECT q.BLOCK__OFFSET__INSIDE__FILE FROM queue q;
CREATE VIEW of_fed AS SELECT d FROM fed;
SHOW PARTITIONS of_fed;
CREATE TEMPORARY TABLE brief (a INT);
SHOW PARTITIONS brief;
CREATE EXTERNAL TABLE regex (a STRING) ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.RegexSerDe' LOCATION '${home}/regex';
CREATE EXTERNAL TABLE dotted (a_b STRING) ROW FORMAT SERDE 'org.openx.data.jsonserde.JsonSerDe'
WITH SERDEPROPERTIES ('dots.in.keys' = 'true') LOCATION '${home}/dotted';
CREATE EXTERNAL TABLE exact (a STRING) ROW FORMAT SERDE 'org.openx.data.jsonserde.JsonSerDe'
WITH SERDEPROPERTIES ('case.insensitive' = 'false') LOCATION '${home}/exact';
