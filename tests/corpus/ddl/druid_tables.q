-- Tables in Druid: what each clause and property becomes, and the task that writes their rows.
CREATE DATABASE depot COMMENT 'the workshop';
USE depot;
EXPLAIN CREATE EXTERNAL TABLE bikes (`__time` TIMESTAMP, frame STRING, gears INT, weight DOUBLE) STORED BY 'druid';
CREATE EXTERNAL TABLE bikes (`__time` TIMESTAMP, frame STRING, gears INT, weight DOUBLE) STORED BY 'druid';
EXPLAIN INSERT INTO bikes VALUES ('2024-05-01 08:00:00', 'steel', 7, 14.5);
EXPLAIN INSERT OVERWRITE TABLE bikes VALUES ('2024-05-01 08:00:00', 'steel', 7, 14.5);
EXPLAIN CREATE TABLE parts (`__time` TIMESTAMP WITH LOCAL TIME ZONE, Part VARCHAR(12), shelf CHAR(2), spare BOOLEAN, n TINYINT, m SMALLINT, price FLOAT)
COMMENT 'spare parts' STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler'
TBLPROPERTIES ('druid.segment.granularity' = 'month', 'druid.query.granularity' = 'HOUR', 'druid.rollup' = 'false', 'mine' = 'x');
CREATE TABLE parts (`__time` TIMESTAMP WITH LOCAL TIME ZONE, Part VARCHAR(12), shelf CHAR(2), spare BOOLEAN, n TINYINT, m SMALLINT, price FLOAT)
STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler' TBLPROPERTIES ('druid.segment.granularity' = 'month', 'druid.rollup' = 'false');
EXPLAIN INSERT INTO parts VALUES ('2024-05-01 08:00:00', 'bell', 'A1', true, 1Y, 2S, 3.5);
SHOW CREATE TABLE parts;
EXPLAIN CREATE EXTERNAL TABLE paint (`__time` TIMESTAMP, colour STRING, litres DECIMAL(6,2), code BINARY, mixed DATE)
STORED BY 'druid' TBLPROPERTIES ('druid.columns.as' = 'litres:double, code:string, mixed:string', 'druid.segment.targetRowsPerSegment' = '5000');
EXPLAIN CREATE EXTERNAL TABLE tolls (`__time` TIMESTAMP, gate STRING, low DOUBLE, high DOUBLE, n BIGINT, who STRING, tags ARRAY<STRING>, `year` INT)
STORED BY 'druid' TBLPROPERTIES (
  'druid.columns.aggregators' = 'low:min(low), high:max(high), n:count, who:hyperUnique(who)', 'druid.columns.dimensions' = 'year',
  'druid.columns.multivalue' = 'gate:SORTED_SET', 'druid.segment.targetShardsPerGranularity' = '2', 'druid.compaction.auto' = 'true');
CREATE EXTERNAL TABLE tolls (`__time` TIMESTAMP, gate STRING, low DOUBLE, high DOUBLE, n BIGINT, tags ARRAY<STRING>, `year` INT)
STORED BY 'druid' TBLPROPERTIES (
  'druid.columns.aggregators' = 'low:min(low), high:max(high), n:count', 'druid.columns.dimensions' = 'year', 'druid.columns.multivalue' = 'gate:SORTED_SET');
EXPLAIN INSERT OVERWRITE TABLE tolls SELECT `__time`, gate, low, high, n, tags, `year` FROM tolls;
EXPLAIN CREATE EXTERNAL TABLE IF NOT EXISTS bikes (`__time` TIMESTAMP) STORED BY 'druid';
EXPLAIN CREATE EXTERNAL TABLE copy LIKE bikes TBLPROPERTIES ('druid.query.granularity' = 'DAY');
EXPLAIN CREATE TABLE sums STORED BY 'druid' AS SELECT floor_month(`__time`) AS `__time`, frame, sum(weight) AS weight FROM bikes GROUP BY floor_month(`__time`), frame;
EXPLAIN ALTER TABLE bikes ADD COLUMNS (bell BOOLEAN, size DOUBLE);
ALTER TABLE bikes ADD COLUMNS (bell BOOLEAN);
EXPLAIN ALTER TABLE bikes SET TBLPROPERTIES ('druid.query.granularity' = 'MINUTE', 'comment' = 'all of them');
EXPLAIN ALTER TABLE bikes RENAME TO cycles;
EXPLAIN TRUNCATE TABLE bikes;
EXPLAIN DROP TABLE bikes;
EXPLAIN DROP TABLE parts PURGE;
DESCRIBE bikes;
DROP DATABASE depot;
DROP DATABASE depot CASCADE;
CREATE DATABASE depot;
CREATE DATABASE depot;
CREATE DATABASE IF NOT EXISTS depot;
