-- A pipe-delimited feed is loaded into a text table and distributed over two levels of dynamic partitions in Parquet.
SET hive.exec.dynamic.partition=true;
SET hive.exec.dynamic.partition.mode=nonstrict;
SET hive.exec.max.dynamic.partitions.pernode=1000;
CREATE TABLE calls_raw (day STRING, region STRING, seconds INT, price DOUBLE)
ROW FORMAT DELIMITED FIELDS TERMINATED BY '|' LINES TERMINATED BY '\n' NULL DEFINED AS '\\N'
STORED AS TEXTFILE;
LOAD DATA LOCAL INPATH '${dir}/data/calls.psv' INTO TABLE calls_raw;
SELECT count(*), count(seconds), count(price) FROM calls_raw;
CREATE EXTERNAL TABLE calls (seconds INT, price DOUBLE, loaded DATE)
PARTITIONED BY (day DATE, region STRING)
STORED AS PARQUET
LOCATION '${home}/calls'
TBLPROPERTIES ('parquet.compression' = 'SNAPPY');
INSERT OVERWRITE TABLE calls PARTITION (day, region)
SELECT seconds, price, to_date('2024-01-31'), CAST(day AS DATE), region
FROM calls_raw
WHERE seconds IS NOT NULL
DISTRIBUTE BY day, region;
SHOW PARTITIONS calls;
-- one day is delivered again: static day, dynamic region
INSERT OVERWRITE TABLE calls PARTITION (day = '2024-01-05', region)
SELECT seconds * 2, price, to_date('2024-02-01'), region FROM calls_raw WHERE day = '2024-01-05' AND region = 'south';
SELECT day, region, seconds, price, loaded FROM calls ORDER BY day, region;
ALTER TABLE calls DROP IF EXISTS PARTITION (day < '2024-01-06');
SELECT region, sum(seconds) AS seconds, round(sum(price), 2) AS price FROM calls GROUP BY region ORDER BY region;
