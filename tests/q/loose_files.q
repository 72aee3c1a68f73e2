--! qt:replace:/'\/[^' ]*\/data\/loose\//'FOLDER\//
-- Files without a table: what has few rows is read without Spark. Hive has no strings in FROM.
SELECT * FROM 'data/loose/orders.csv';
SELECT sum(amount), count(amount), count(*), min(orders.ordered), max(zip) FROM 'data/loose/orders.csv' WHERE paid;
DESCRIBE 'data/loose/orders.csv';
EXPLAIN SELECT customer FROM 'data/loose/orders.csv' AS o WHERE o.order_id = 1;

-- a separator, a header and a type for each column are found; every value decides
SELECT * FROM 'data/loose/plain.csv';
DESCRIBE 'data/loose/plain.csv';
DESC 'data/loose/plain2.csv.gz';
SELECT sum(_c1) FROM 'data/loose/numbers.tsv';
SELECT * FROM 'data/loose/events.jsonl';
SELECT get_json_object(extra, '$.x') FROM "data/loose/events.jsonl" WHERE id = 2;
SELECT sum(amount) FROM 'data/loose/parts/*.csv';

-- joins, in a CTE and with Druid; loading in one statement
WITH p AS (SELECT * FROM 'data/loose/plain.csv') SELECT p.id, o.customer FROM p, 'data/loose/orders.csv' o
WHERE p.id = o.order_id;
CREATE EXTERNAL TABLE sales STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler'
TBLPROPERTIES ('druid.segment.granularity' = 'DAY', 'druid.rollup' = 'false')
AS SELECT ordered AS `__time`, customer, amount FROM 'data/loose/orders.csv';
SELECT count(*), sum(amount) FROM sales;
SELECT s.customer, o.zip FROM sales s JOIN 'data/loose/orders.csv' o ON s.customer = o.customer ORDER BY o.zip;
INSERT INTO sales SELECT day, 'plain', amount FROM 'data/loose/plain.csv';
SELECT count(*), sum(amount) FROM sales;
CREATE EXTERNAL TABLE parquet_sales STORED AS PARQUET LOCATION '${home}/sales' AS SELECT customer, amount FROM sales;
SELECT count(*), sum(amount) FROM '${home}/sales/*';
CREATE EXTERNAL TABLE avro_sales STORED AS AVRO LOCATION '${home}/avro_sales' AS SELECT customer, amount, `__time` AS sold FROM sales;
SELECT count(*), sum(amount), max(sold) FROM '${home}/avro_sales/*';
EXPLAIN CREATE TABLE copied AS SELECT * FROM 'data/loose/plain.csv';

-- errors
SELECT * FROM 'data/loose/oders.csv';
SELECT * FROM 'data/loose/*.csw';
SELECT * FROM 'data/loose/parts';
SELECT * FROM 'data/loose/notes.xls';
SELECT * FROM 'data/loose/empty.csv';
SELECT * FROM 'data/loose/ragged.csv';
SELECT * FROM 'data/loose/unclosed.csv';
SELECT * FROM 'data/loose/latin.csv';
SELECT * FROM 'data/loose/broken.ndjson';
SELECT * FROM 'data/loose/broken.parquet';
SELECT * FROM 'data/loose/mixed/*.csv';
SELECT * FROM 's3://bucket/orders.csv';
SELECT * FROM 'sales';
DESCRIBE 'data/loose/oders.csv';
SELECT INPUT__FILE__NAME FROM 'data/loose/plain.csv';
CREATE VIEW v AS SELECT * FROM 'data/loose/plain.csv';
CREATE MATERIALIZED VIEW v AS SELECT id FROM 'data/loose/plain.csv';
SELECT nothing FROM 'data/loose/plain.csv';

-- tables over text whose first lines do not fit
CREATE EXTERNAL TABLE quoted (id INT, customer STRING, ordered TIMESTAMP, amount DOUBLE, paid BOOLEAN, zip STRING, note STRING)
ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' LOCATION 'data/loose/orders.csv';
CREATE EXTERNAL TABLE headed (id INT, day DATE, amount DOUBLE)
ROW FORMAT DELIMITED FIELDS TERMINATED BY ';' LOCATION 'data/loose/plain.csv';
CREATE EXTERNAL TABLE separated (id INT, day DATE, amount DOUBLE)
ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' LOCATION 'data/loose/plain.csv';
CREATE EXTERNAL TABLE short (id INT, day DATE) ROW FORMAT DELIMITED FIELDS TERMINATED BY ';'
LOCATION 'data/loose/plain.csv' TBLPROPERTIES ('skip.header.line.count' = '1');
CREATE EXTERNAL TABLE fits (id INT, day DATE, amount DOUBLE) ROW FORMAT DELIMITED FIELDS TERMINATED BY ';'
LOCATION 'data/loose/plain.csv' TBLPROPERTIES ('skip.header.line.count' = '1');
CREATE EXTERNAL TABLE strings (id INT, customer STRING, ordered TIMESTAMP, amount DOUBLE, paid BOOLEAN, zip STRING, note STRING)
ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.OpenCSVSerde' LOCATION 'data/loose/orders.csv'
TBLPROPERTIES ('skip.header.line.count' = '1');
CREATE EXTERNAL TABLE none (id INT) STORED AS CSV LOCATION 'data/loose/plain.csv';
CREATE EXTERNAL TABLE none (id INT) ROW FORMAT SERDE 'OpenCSVSerde' LOCATION 'data/loose/plain.csv';
