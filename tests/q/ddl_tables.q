-- CREATE, DESCRIBE, SHOW, ALTER, DROP in every form.
CREATE EXTERNAL TABLE druid_t (`__time` timestamp with local time zone COMMENT 'when', page string COMMENT 'what', added bigint, ratio double, ok boolean)
COMMENT 'edits'
STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler'
WITH SERDEPROPERTIES ('x' = 'y')
TBLPROPERTIES ('druid.segment.granularity' = 'MONTH', 'druid.query.granularity' = 'HOUR', 'owner.team' = 'wiki');
CREATE EXTERNAL TABLE IF NOT EXISTS druid_t (`__time` timestamp) STORED BY 'druid';
CREATE EXTERNAL TABLE druid_t (`__time` timestamp) STORED BY 'druid';
EXPLAIN CREATE EXTERNAL TABLE druid_u (`__time` timestamp, a string) STORED BY DRUID;
CREATE TABLE orc_t (id int, name string) STORED AS ORC;
CREATE EXTERNAL TABLE csv_t (id int, name string) ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' STORED AS TEXTFILE LOCATION '/tmp/no/where';
CREATE EXTERNAL TABLE kafka_t (a string) STORED BY 'kafka' TBLPROPERTIES ('kafka.topic' = 't', 'kafka.bootstrap.servers' = 'localhost:9092');
DESCRIBE druid_t;
DESCRIBE EXTENDED druid_t;
DESCRIBE FORMATTED druid_t;
DESCRIBE druid_t page;
SHOW CREATE TABLE druid_t;
SHOW TBLPROPERTIES druid_t;
SHOW TBLPROPERTIES druid_t ('druid.segment.granularity');
SHOW COLUMNS IN druid_t;
SHOW COLUMNS FROM druid_t LIKE '*a*';
SHOW TABLES;
SHOW TABLES LIKE '*_t';
SHOW TABLES 'd*|o*';
DESCRIBE kafka_t;
SHOW CREATE TABLE csv_t;
ALTER TABLE druid_t SET TBLPROPERTIES ('comment' = 'all edits', 'druid.rollup' = 'false');
ALTER TABLE druid_t UNSET TBLPROPERTIES ('owner.team');
ALTER TABLE druid_t UNSET TBLPROPERTIES ('owner.team');
ALTER TABLE druid_t UNSET TBLPROPERTIES IF EXISTS ('owner.team');
ALTER TABLE druid_t ADD COLUMNS (deleted bigint COMMENT 'later');
ALTER TABLE druid_t ADD COLUMNS (page string);
EXPLAIN ALTER TABLE druid_t SET TBLPROPERTIES ('a' = 'b');
DESCRIBE druid_t;
ALTER TABLE druid_t RENAME TO druid_renamed;
SHOW TBLPROPERTIES druid_renamed;
SELECT count(*) FROM druid_renamed;
EXPLAIN DROP TABLE druid_renamed;
DROP TABLE druid_renamed;
DROP TABLE druid_renamed;
DROP TABLE IF EXISTS druid_renamed;
DROP TABLE kafka_t PURGE;
TRUNCATE TABLE orc_t;
-- Hive's refusals
CREATE EXTERNAL TABLE d (a string) STORED BY 'druid';
CREATE EXTERNAL TABLE d (`__time` string) STORED BY 'druid';
CREATE EXTERNAL TABLE d (`__time` timestamp) STORED BY 'druid' LOCATION '/testfolder/';
CREATE EXTERNAL TABLE d (`__time` timestamp) PARTITIONED BY (dt string) STORED BY 'druid';
CREATE EXTERNAL TABLE d (`__time` timestamp, robot string) CLUSTERED BY (robot) INTO 32 BUCKETS STORED BY 'druid';
CREATE EXTERNAL TABLE d STORED BY 'druid';
CREATE EXTERNAL TABLE d STORED BY 'druid' TBLPROPERTIES ('druid.datasource' = 'nowhere');
CREATE EXTERNAL TABLE d (`__time` timestamp, x decimal(10,2)) STORED BY 'druid';
CREATE EXTERNAL TABLE d (`__time` timestamp, x date) STORED BY 'druid';
CREATE EXTERNAL TABLE d (`__time` timestamp) STORED BY 'druid' TBLPROPERTIES ('druid.segment.granularty' = 'DAY');
CREATE EXTERNAL TABLE d (`__time` timestamp) STORED BY 'druid' TBLPROPERTIES ('druid.segment.granularity' = 'DAILY');
CREATE EXTERNAL TABLE d (`__time` timestamp) STORED BY 'druid' TBLPROPERTIES ('druid.kafka.ingestion.taskCount' = 'many');
CREATE EXTERNAL TABLE k (a string) STORED BY 'kafka';
CREATE EXTERNAL TABLE d (`__time` timestamp) STORED BY 'org.example.Other';
-- constraints are stored and shown
CREATE TABLE keyed (id INT NOT NULL DISABLE COMMENT 'c', town STRING DEFAULT concat('a', 'b') DISABLE RELY, n INT CONSTRAINT few CHECK (n < 10) NOT ENFORCED,
  CONSTRAINT pk PRIMARY KEY (id, n) DISABLE NOVALIDATE RELY, UNIQUE (town) DISABLE, FOREIGN KEY (n) REFERENCES other (m) DISABLE, CHECK (n > 0 AND id IN (1, 2)) DISABLE);
SHOW CREATE TABLE keyed;
DESCRIBE FORMATTED keyed;
ALTER TABLE keyed DROP CONSTRAINT pk;
EXPLAIN ALTER TABLE keyed ADD CONSTRAINT pk PRIMARY KEY (id) DISABLE NOVALIDATE;
ALTER TABLE keyed ADD CONSTRAINT few UNIQUE (n) DISABLE;
ALTER TABLE keyed CHANGE town place STRING NOT NULL DISABLE;
SHOW CREATE TABLE keyed;
ALTER TABLE keyed DROP CONSTRAINT pk;
CREATE TABLE no (a INT PRIMARY KEY DISABLE, b INT PRIMARY KEY DISABLE);
CREATE EXTERNAL TABLE no (a INT NOT NULL) LOCATION '/tmp/none';
CREATE EXTERNAL TABLE no (a INT DEFAULT 5 ENABLE) LOCATION '/tmp/none';
CREATE TABLE no (a INT PRIMARY KEY ENABLE);
CREATE TABLE no (a INT, UNIQUE (b) DISABLE);
CREATE TABLE no (a INT UNIQUE DISABLE VALIDATE);
CREATE TABLE no (a INT, FOREIGN KEY (a) REFERENCES other (b, c) DISABLE);
