-- Daily loads into partitions: static, dynamic, and a repeated day.
SET hive.exec.dynamic.partition.mode=nonstrict;
CREATE EXTERNAL TABLE raw_sales (line STRING) STORED AS TEXTFILE LOCATION '${home}/raw_sales';
INSERT INTO raw_sales VALUES ('2024-05-01|north|1001|3|19.90'), ('2024-05-01|south|1002|1|5'), ('2024-05-02|north|1001|x|19.90'), ('2024-05-02|west|1003|2|'), ('bad line'), ('2024-05-03|north|1004|10|0.10');
CREATE EXTERNAL TABLE sales (sku INT, qty INT, amount DECIMAL(12,2)) PARTITIONED BY (day STRING, region STRING) STORED AS ORC LOCATION '${home}/sales';
INSERT OVERWRITE TABLE sales PARTITION (day, region)
SELECT CAST(f[2] AS INT), CAST(f[3] AS INT), CAST(f[3] AS INT) * CAST(f[4] AS DECIMAL(10,2)), f[0], f[1] FROM (SELECT split(line, '\\|') AS f FROM raw_sales) r WHERE size(f) = 5;
SHOW PARTITIONS sales;
SELECT * FROM sales ORDER BY day, region, sku;
INSERT OVERWRITE TABLE sales PARTITION (day = '2024-05-02', region) SELECT 7, 1, 9.99, 'west' UNION ALL SELECT 8, 2, 1.5, 'east';
INSERT INTO sales PARTITION (day = '2024-05-04', region = 'north') VALUES (1, 1, 1.00);
INSERT OVERWRITE TABLE sales PARTITION (day = '2024-05-01', region = 'south') SELECT sku, qty, amount * 2 FROM sales WHERE day = '2024-05-01' AND region = 'south';
ALTER TABLE sales DROP IF EXISTS PARTITION (day < '2024-05-02', region = 'north');
SELECT day, region, count(*), sum(amount) FROM sales GROUP BY day, region ORDER BY day, region;
SELECT day, sum(qty) AS q, sum(sum(qty)) OVER (ORDER BY day) AS running FROM sales GROUP BY day ORDER BY day;
SELECT region, max(struct(amount, sku)).col2 AS best, max(named_struct('a', amount, 's', sku)) FROM sales GROUP BY region ORDER BY region;
INSERT INTO sales PARTITION (day, region) SELECT 99, NULL, NULL, '2024-05-05', CAST(NULL AS STRING);
SELECT * FROM sales WHERE day = '2024-05-05';
SELECT count(*) FROM sales WHERE region IS NULL;
ALTER TABLE sales PARTITION (day = '2024-05-04', region = 'north') RENAME TO PARTITION (day = '2024-05-06', region = 'north');
SHOW PARTITIONS sales PARTITION (day = '2024-05-06');
SELECT max(day), min(day), count(DISTINCT day) FROM sales;
