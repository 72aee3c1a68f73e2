-- Partitions that another program wrote are added selectively, their key gets its type, and a session works on a part of them.
SET hive.exec.dynamic.partition.mode=nonstrict;
CREATE EXTERNAL TABLE writer (id INT, v DOUBLE) PARTITIONED BY (y STRING, m STRING)
ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' LOCATION '${home}/metrics';
INSERT INTO writer VALUES (1, 1.5, '2023', '11'), (2, 2.5, '2023', '12'), (3, 4.0, '2024', '01'), (4, 8.0, '2024', '02'), (5, 16.0, '2024', '10');
CREATE EXTERNAL TABLE metrics (id INT, v DOUBLE) PARTITIONED BY (y STRING, m STRING)
ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' LOCATION '${home}/metrics';
MSCK REPAIR TABLE metrics ADD PARTITIONS (y = '2024', m < '10');
MSCK REPAIR TABLE metrics ADD PARTITIONS (y LIKE '%23', m > '11');
SHOW PARTITIONS metrics;
SELECT y, m, sum(v) AS v FROM metrics GROUP BY y, m ORDER BY y, m;
-- the year is a number from now on; the folders keep their names
ALTER TABLE metrics PARTITION COLUMN (y INT);
DESCRIBE metrics;
SELECT id, v, y + 1 AS next_year FROM metrics WHERE y BETWEEN 2023 AND 2023;
SHOW PARTITIONS metrics WHERE y = 2024 OR m = '12' ORDER BY y, m DESC;
MSCK REPAIR TABLE metrics SYNC PARTITIONS (y = 2024, m = '10');
-- the part that this run is about, by month
CREATE TEMPORARY TABLE recent (id INT, v DOUBLE) PARTITIONED BY (m STRING) STORED AS ORC;
INSERT INTO TABLE recent PARTITION (m) SELECT id, v, m FROM metrics WHERE y = 2024;
INSERT OVERWRITE TABLE recent PARTITION (m = '01') SELECT id, v * 10 FROM recent WHERE m = '01';
SHOW PARTITIONS recent;
SELECT m, sum(v) AS v FROM recent GROUP BY m ORDER BY m;
TRUNCATE TABLE recent PARTITION (m = '02');
SELECT count(*) AS n, max(m) AS last_month FROM recent;
-- as a daily partition of a summary, static and dynamic
CREATE TABLE summary (n BIGINT, total DOUBLE) PARTITIONED BY (taken STRING, m STRING);
INSERT OVERWRITE TABLE summary PARTITION (taken = '2024-11-01', m) SELECT count(*), sum(v), m FROM recent GROUP BY m;
SELECT * FROM summary ORDER BY m;
