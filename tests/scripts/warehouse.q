-- A small warehouse end to end: staging, dimension, fact, mart.
CREATE DATABASE dw;
USE dw;
CREATE EXTERNAL TABLE stg_sales (sold STRING, store STRING, sku STRING, qty INT, price STRING)
ROW FORMAT DELIMITED FIELDS TERMINATED BY ';' STORED AS TEXTFILE;
INSERT INTO stg_sales VALUES ('2024-01-05', 'Graz', 'A-1', 2, '10,50'), ('2024-01-05', 'Linz', 'B-2', 1, '3,00'), ('2024-01-06', 'Graz', 'A-1', 1, '10,50'), ('bad', 'Linz', 'A-1', 1, 'x');
CREATE TABLE dim_store STORED AS ORC AS SELECT row_number() OVER (ORDER BY store) AS store_key, store FROM (SELECT DISTINCT store FROM stg_sales) s;
CREATE TABLE fact_sales (store_key INT, sku STRING, qty INT, amount DECIMAL(10,2)) PARTITIONED BY (sold DATE) STORED AS ORC;
INSERT OVERWRITE TABLE fact_sales PARTITION (sold)
SELECT d.store_key, upper(regexp_replace(s.sku, '-', '')), s.qty, s.qty * CAST(regexp_replace(s.price, ',', '.') AS DECIMAL(8,2)), CAST(s.sold AS DATE)
FROM stg_sales s JOIN dim_store d ON s.store = d.store WHERE CAST(s.sold AS DATE) IS NOT NULL;
SHOW PARTITIONS fact_sales;
CREATE VIEW mart AS SELECT d.store, f.sold, sum(f.amount) AS amount FROM fact_sales f JOIN dim_store d ON f.store_key = d.store_key GROUP BY d.store, f.sold;
SELECT store, sold, amount, sum(amount) OVER (PARTITION BY store ORDER BY sold) AS running FROM mart ORDER BY store, sold;
USE default;
DROP DATABASE dw CASCADE;
