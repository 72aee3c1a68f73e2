-- Partitions of external tables: folders with the values of columns, as in Hive.
CREATE EXTERNAL TABLE sales (id INT, note STRING COMMENT 'free text') PARTITIONED BY (day INT COMMENT 'a day', shop STRING)
ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' STORED AS TEXTFILE LOCATION '${home}/sales';
DESCRIBE sales;
SHOW CREATE TABLE sales;
-- values have the form of their types
ALTER TABLE sales ADD PARTITION (day=01, shop='x y/z:%="#{}[]^ä');
ALTER TABLE sales ADD IF NOT EXISTS PARTITION (shop='A', day='7') PARTITION (day=8, shop='b') LOCATION '${home}/elsewhere';
EXPLAIN ALTER TABLE sales ADD PARTITION (day=9, shop='c') LOCATION '${home}/elsewhere/c';
ALTER TABLE sales ADD PARTITION (day=007, shop='A');
ALTER TABLE sales ADD PARTITION (day=7, shop='');
ALTER TABLE sales ADD PARTITION (day=NULL, shop='n');
ALTER TABLE sales ADD PARTITION (day='abc', shop='n');
ALTER TABLE sales ADD PARTITION (day=1);
ALTER TABLE sales ADD PARTITION (day='', shop='n');
ALTER TABLE sales ADD PARTITION (day=1, shp='a');
ALTER TABLE sales ADD PARTITION (day=1, day=2);
SHOW PARTITIONS sales;
SHOW PARTITIONS sales PARTITION (day=7);
SHOW PARTITIONS sales PARTITION (shop='b');
SHOW PARTITIONS sales WHERE day > 1 AND shop <> 'c' ORDER BY day DESC, shop LIMIT 1;
SHOW PARTITIONS sales ORDER BY shop;
SHOW PARTITIONS sales WHERE year(day) = 1;
SHOW PARTITIONS sales ORDER BY id;
ALTER TABLE sales PARTITION (day=8, shop='b') SET FILEFORMAT ORC;
ALTER TABLE sales PARTITION (day=8, shop='b') ADD COLUMNS (x INT);
DESCRIBE FORMATTED sales PARTITION (day=8, shop='b');
DESCRIBE sales PARTITION (day=8, shop='b');
DESCRIBE sales PARTITION (day=8);
DESCRIBE sales PARTITION (day=8, shop='c');
ALTER TABLE sales PARTITION (day=8, shop='b') RENAME TO PARTITION (day=9, shop='bb');
ALTER TABLE sales PARTITION (day=7, shop='A') SET LOCATION '${home}/seven';
ALTER TABLE sales PARTITION (day=7, shop='A') RENAME TO PARTITION (day=9, shop='bb');
DESCRIBE FORMATTED sales PARTITION (day=9, shop='bb');
ALTER TABLE sales DROP PARTITION (day > 7, shop <> 'x'), PARTITION (day = 400);
ALTER TABLE sales DROP PARTITION (day = 400);
SHOW PARTITIONS sales;
-- columns
ALTER TABLE sales ADD COLUMNS (price DOUBLE);
ALTER TABLE sales REPLACE COLUMNS (id BIGINT, note STRING);
ALTER TABLE sales REPLACE COLUMNS (id BIGINT, day INT);
ALTER TABLE sales CHANGE COLUMN day day BIGINT;
DESCRIBE sales;
-- files are only deleted with external.table.purge
TRUNCATE TABLE sales PARTITION (day=1);
ALTER TABLE sales SET TBLPROPERTIES ('external.table.purge'='true');
EXPLAIN TRUNCATE TABLE sales PARTITION (day=1);
TRUNCATE TABLE sales PARTITION (day=1);
EXPLAIN ALTER TABLE sales DROP PARTITION (day=1);
ALTER TABLE sales DROP PARTITION (day=1);
DROP TABLE sales;
-- other tables
CREATE EXTERNAL TABLE plain (a INT) LOCATION '${home}/plain';
ALTER TABLE plain ADD PARTITION (a=1);
MSCK REPAIR TABLE plain;
CREATE EXTERNAL TABLE e (a INT) PARTITIONED BY SPEC (a) LOCATION '${home}/e';
CREATE EXTERNAL TABLE e PARTITIONED BY (a INT) LOCATION '${home}/e';
CREATE EXTERNAL TABLE e (a INT) PARTITIONED BY (b ARRAY<INT>) LOCATION '${home}/e';
CREATE EXTERNAL TABLE e PARTITIONED BY (a) LOCATION '${home}/e' AS SELECT 1 AS b, 2 AS a;
-- the names of folders
CREATE EXTERNAL TABLE typed (a INT) PARTITIONED BY (d DATE, ts TIMESTAMP, n DECIMAL(10,2), f DOUBLE, b BOOLEAN) LOCATION '${home}/typed';
ALTER TABLE typed ADD PARTITION (d='2024-1-6', ts='2024-01-06', n='2.50', f='3', b='TRUE')
  PARTITION (d=date '2024-01-07', ts=timestamp '2024-01-06 00:00:00', n=2.5, f=1e10, b=false);
SHOW PARTITIONS typed;
SHOW PARTITIONS typed PARTITION (n=2.5, b=true);
ALTER TABLE typed DROP PARTITION (f > 100);
SHOW PARTITIONS typed;
-- rows: the values of the folders, in the columns that come last
CREATE EXTERNAL TABLE d (a INT) PARTITIONED BY (k INT) LOCATION '${home}/d';
SELECT * FROM d;
SET hive.exec.dynamic.partition.mode=strict;
INSERT INTO d PARTITION (k) SELECT 1, 1;
SET hive.exec.dynamic.partition.mode=nonstrict;
INSERT INTO d PARTITION (k) SELECT 1, 1 UNION ALL SELECT 2, 2;
-- OVERWRITE replaces the partitions of its rows; without rows, that of PARTITION with constants alone
INSERT OVERWRITE TABLE d PARTITION (k) SELECT 10, 1;
INSERT OVERWRITE TABLE d PARTITION (k) SELECT 10, 1 WHERE false;
SELECT * FROM d ORDER BY a;
INSERT OVERWRITE TABLE d PARTITION (k=1) SELECT 10 WHERE false;
INSERT OVERWRITE TABLE d SELECT 5, 2;
INSERT INTO d (k, a) VALUES (8, 80), (NULL, 90);
INSERT INTO d PARTITION (k='x') VALUES (1);
INSERT INTO d PARTITION (k) (a) SELECT 1;
INSERT INTO d PARTITION (k=04) VALUES (44);
INSERT INTO d PARTITION (j=1) VALUES (44);
INSERT INTO d PARTITION (k=1) (k, a) VALUES (1, 44);
INSERT INTO d PARTITION (k=1) VALUES (1, 44);
SELECT * FROM d ORDER BY a;
SHOW PARTITIONS d;
EXPLAIN SELECT a FROM d WHERE k IN (2, 8);
SELECT count(*), max(k) FROM d WHERE k IN (2, 8);
CREATE EXTERNAL TABLE m (a INT, b STRING) PARTITIONED BY (k INT, s STRING) STORED AS PARQUET LOCATION '${home}/m';
INSERT INTO m PARTITION (k=1, s) SELECT 1, 'b', 'a/=%';
INSERT INTO m PARTITION (k, s='a') SELECT 1, 'b', 2;
INSERT INTO m PARTITION (k=1) SELECT 1, 'b';
EXPLAIN INSERT OVERWRITE TABLE m PARTITION (k=1, s) SELECT 2, 'b', 'c';
INSERT OVERWRITE TABLE m PARTITION (k=1, s) SELECT 2, 'b', 'c' UNION ALL SELECT 3, 'b', '';
INSERT OVERWRITE TABLE m PARTITION (k=1, s='c') IF NOT EXISTS SELECT 4, 'b';
INSERT OVERWRITE TABLE m PARTITION (k=1, s) IF NOT EXISTS SELECT 4, 'b', 'c';
EXPLAIN INSERT OVERWRITE TABLE m PARTITION (k=1, s='c') SELECT 3, 'b';
-- a string in the folder of NULL has its name as its value, as in Hive
SELECT * FROM m ORDER BY a;
ALTER TABLE m ADD PARTITION (k=9, s='elsewhere') LOCATION '${home}/elsewhere';
INSERT INTO m PARTITION (k=9, s='elsewhere') VALUES (9, 'b');
ALTER TABLE m PARTITION (k=9, s='elsewhere') RENAME TO PARTITION (k=10, s='renamed');
ALTER TABLE m ADD COLUMNS (c DOUBLE);
SELECT a, c, k, s FROM m WHERE k >= 1 AND s NOT LIKE '\_\_%' ORDER BY a;
FROM (SELECT 20 AS a, 'x' AS b, 1.5D AS c) f
INSERT INTO m PARTITION (k=20, s='x') SELECT a, b, c
INSERT OVERWRITE TABLE d PARTITION (k=20) SELECT a;
SELECT m.a, m.c, m.s, d.a FROM m JOIN d ON m.k = d.k WHERE d.k = 20;
ALTER TABLE m DROP PARTITION (k < 10);
SELECT * FROM m ORDER BY a;
CREATE EXTERNAL TABLE j (a INT) PARTITIONED BY (`day` DATE, n DECIMAL(10,2), f DOUBLE) STORED AS JSONFILE LOCATION '${home}/j';
INSERT INTO j SELECT 1, DATE '2024-01-05', 1.50, 1e10;
SHOW PARTITIONS j;
SELECT * FROM j WHERE `day` = '2024-01-05' AND n = 1.5;
CREATE EXTERNAL TABLE v (a STRING, b STRING) PARTITIONED BY (value STRING) LOCATION '${home}/v';
INSERT INTO v VALUES ('1', 'x', 'one'), ('2', 'y', 'two');
SELECT * FROM v WHERE value = 'two';
CREATE EXTERNAL TABLE v2 LIKE v LOCATION '${home}/v';
SELECT * FROM v2;
MSCK REPAIR TABLE v2;
SELECT max(value) FROM v2;
