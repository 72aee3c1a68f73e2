--! qt:replace:/part-[0-9a-z.-]+orc/part.orc/
-- LOAD DATA: files of an external table are copied or moved, the rows of other tables are inserted.
-- Hive 4.0.1 returned the same rows and file names.
CREATE EXTERNAL TABLE t (i INT, s STRING) ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' LOCATION '${home}/t';
EXPLAIN LOAD DATA LOCAL INPATH 'data/load/a.csv' INTO TABLE t;
LOAD DATA LOCAL INPATH 'data/load/a.csv' INTO TABLE t;
LOAD DATA LOCAL INPATH 'data/load/a.csv' INTO TABLE t;
LOAD DATA LOCAL INPATH 'data/load/?.csv' INTO TABLE t;
SELECT i, s, count(*) FROM t GROUP BY i, s ORDER BY i;
LOAD DATA LOCAL INPATH 'data/load/{b,none}.csv' OVERWRITE INTO TABLE t;
SELECT * FROM t;

-- moved: the table of other has no files afterwards
CREATE EXTERNAL TABLE other (i INT, s STRING) ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' LOCATION '${home}/other';
LOAD DATA INPATH '${home}/t' INTO TABLE other;
SELECT count(*) FROM t;
SELECT * FROM other;
LOAD DATA INPATH '${home}/other' INTO TABLE other;
LOAD DATA INPATH '${home}/t' INTO TABLE other;

-- partitions
CREATE EXTERNAL TABLE p (i INT) PARTITIONED BY (d DATE, k STRING) ROW FORMAT DELIMITED FIELDS TERMINATED BY ','
LOCATION '${home}/p';
EXPLAIN LOAD DATA LOCAL INPATH 'data/load/a.csv' OVERWRITE INTO TABLE p PARTITION (d = '2024-1-1', k = 'b');
LOAD DATA LOCAL INPATH 'data/load/a.csv' INTO TABLE p PARTITION (d = '2024-01-01', k = 'b');
LOAD DATA LOCAL INPATH 'data/load/b.csv' OVERWRITE INTO TABLE p PARTITION (d = '2024-01-01', k = 'b');
LOAD DATA LOCAL INPATH 'data/load/days.csv' INTO TABLE p;
SHOW PARTITIONS p;
SELECT * FROM p ORDER BY i;
LOAD DATA LOCAL INPATH 'data/load/a.csv' INTO TABLE p PARTITION (d = '2024-01-01');
LOAD DATA LOCAL INPATH 'data/load/a.csv' INTO TABLE p PARTITION (d = 'never', k = 'b');
LOAD DATA LOCAL INPATH 'data/load/a.csv' INTO TABLE t PARTITION (d = '2024-01-01');

-- managed tables: their rows are ORC files of Iceberg
CREATE TABLE m (i INT, s STRING);
LOAD DATA LOCAL INPATH 'data/load/nested' INTO TABLE m;
EXPLAIN LOAD DATA LOCAL INPATH 'data/load/c.json' INTO TABLE m
INPUTFORMAT 'org.apache.hadoop.mapred.TextInputFormat' SERDE 'org.apache.hadoop.hive.serde2.JsonSerDe';
LOAD DATA LOCAL INPATH 'data/load/c.json' INTO TABLE m
INPUTFORMAT 'org.apache.hadoop.mapred.TextInputFormat' SERDE 'org.apache.hadoop.hive.serde2.JsonSerDe';
SELECT * FROM m ORDER BY i;

-- ORC and Parquet
CREATE EXTERNAL TABLE o (i INT, s STRING) STORED AS ORC LOCATION '${home}/o';
INSERT INTO o VALUES (9, 'i');
LOAD DATA INPATH '${home}/o' OVERWRITE INTO TABLE m;
SELECT * FROM m;
LOAD DATA LOCAL INPATH 'data/load/a.csv' INTO TABLE o;
LOAD DATA LOCAL INPATH '${home}/o' INTO TABLE t;

-- errors
LOAD DATA LOCAL INPATH 'data/load/none' INTO TABLE t;
LOAD DATA LOCAL INPATH 'hdfs://host/data' INTO TABLE t;
LOAD DATA LOCAL INPATH 'data/load/a.csv' INTO TABLE missing;
LOAD DATA LOCAL INPATH 'data/load/a.csv' INTO t;
LOAD DATA LOCAL INPATH 'data/load/a.csv' INTO TABLE t SERDE 'x';
LOAD DATA LOCAL INPATH 'data/load/a.csv' INTO TABLE t INPUTFORMAT 'x' SERDE 'y';
CREATE VIEW v AS SELECT * FROM t;
LOAD DATA LOCAL INPATH 'data/load/a.csv' INTO TABLE v;
CREATE TABLE d (`__time` TIMESTAMP, s STRING) STORED BY 'druid';
LOAD DATA LOCAL INPATH 'data/load/a.csv' INTO TABLE d;
