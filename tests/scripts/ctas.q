-- Tables from queries, in all the forms that scripts use.
CREATE TABLE sales STORED AS ORC TBLPROPERTIES ('orc.compress' = 'SNAPPY') AS
SELECT stack(4, 'north', 2022, 10.25, 'north', 2023, 12.75, 'south', 2022, 70.25, 'south', 2023, NULL)
AS (region, year, revenue);
DESCRIBE sales;
CREATE TABLE best ROW FORMAT DELIMITED FIELDS TERMINATED BY '\t' STORED AS TEXTFILE AS
SELECT region, max(revenue) AS revenue FROM sales GROUP BY region;
SELECT * FROM best ORDER BY region;
CREATE TABLE IF NOT EXISTS by_year PARTITIONED BY (year) STORED AS PARQUET AS SELECT region, revenue, year FROM sales;
SHOW PARTITIONS by_year;
CREATE EXTERNAL TABLE archive PARTITIONED BY (year) STORED AS ORC LOCATION '${home}/archive' AS
SELECT region, revenue, year FROM sales;
SHOW PARTITIONS archive;
SELECT region, revenue FROM archive WHERE year = 2022 ORDER BY region;
CREATE TABLE empty_copy LIKE sales;
SELECT count(*) FROM empty_copy;
CREATE TABLE unnamed AS SELECT region, count(*), sum(revenue) / 2 FROM sales GROUP BY region;
SELECT region, `_c1`, `_c2` FROM unnamed ORDER BY region;
CREATE EXTERNAL TABLE export_csv ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' LOCATION '${home}/export_csv' AS
SELECT region, year FROM sales WHERE revenue IS NOT NULL;
SELECT * FROM export_csv ORDER BY region, year;
CREATE TABLE with_cte AS WITH r AS (SELECT region, revenue FROM sales WHERE year = 2023) SELECT * FROM r;
SELECT * FROM with_cte ORDER BY region;
-- Hive decides where files are: an external table without LOCATION has a folder of its own, a managed one with LOCATION is external.
CREATE EXTERNAL TABLE kept (region STRING, year INT) PARTITIONED BY (q INT) STORED AS PARQUET;
SELECT count(*) FROM kept;
INSERT INTO kept PARTITION (q = 1) SELECT region, year FROM sales WHERE year = 2022;
SELECT * FROM kept ORDER BY region;
CREATE TABLE here (region STRING) STORED AS TEXTFILE LOCATION '${home}/here';
INSERT INTO here SELECT DISTINCT region FROM sales;
SELECT * FROM here ORDER BY region;
DROP TABLE here;
CREATE EXTERNAL TABLE gone (line STRING) LOCATION '${home}/here';
SELECT count(*) FROM gone;
