-- Nightly load: quoted CSV files are staged as strings, cleaned, and written to one day's or month's partition.
CREATE DATABASE IF NOT EXISTS shop COMMENT 'orders of the web shop';
USE shop;
DROP TABLE IF EXISTS orders_stage;
CREATE EXTERNAL TABLE orders_stage (
  order_id STRING,
  customer STRING,
  placed_at STRING,
  amount STRING,
  note STRING
)
ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.OpenCSVSerde'
WITH SERDEPROPERTIES ('separatorChar' = ',', 'quoteChar' = '"', 'escapeChar' = '\\')
STORED AS TEXTFILE
LOCATION '${home}/orders_stage'
TBLPROPERTIES ('skip.header.line.count' = '1');
LOAD DATA LOCAL INPATH '${dir}/data/orders.csv' OVERWRITE INTO TABLE orders_stage;
SELECT * FROM orders_stage ORDER BY order_id;
CREATE TABLE IF NOT EXISTS orders (
  order_id BIGINT COMMENT 'from the shop',
  customer STRING,
  placed_at TIMESTAMP,
  amount DECIMAL(10,2),
  note STRING
)
PARTITIONED BY (month STRING)
STORED AS ORC
TBLPROPERTIES ('orc.compress' = 'ZLIB');
INSERT OVERWRITE TABLE orders PARTITION (month = '2023-11')
SELECT CAST(order_id AS BIGINT), trim(customer), CAST(placed_at AS TIMESTAMP), CAST(amount AS DECIMAL(10,2)),
       CASE WHEN length(note) = 0 THEN NULL ELSE note END
FROM orders_stage
WHERE substr(placed_at, 1, 7) = '2023-11';
INSERT INTO TABLE orders PARTITION (month = '2023-12')
SELECT CAST(order_id AS BIGINT), customer, CAST(placed_at AS TIMESTAMP), CAST(amount AS DECIMAL(10,2)), note
FROM orders_stage WHERE placed_at >= '2023-12-01';
SHOW PARTITIONS orders;
SELECT month, count(*) AS orders, sum(amount) AS total, max(placed_at) AS last FROM orders GROUP BY month ORDER BY month;
SELECT customer, nvl(note, '-') AS note FROM orders WHERE month = '2023-11' ORDER BY order_id;
DROP TABLE orders_stage;
USE default;
DROP DATABASE shop CASCADE;
