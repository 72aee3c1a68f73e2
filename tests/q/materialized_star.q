-- A materialized view of a star of tables: queries of some of them are answered from it, since it was counted that no row is lost.
CREATE TABLE sales (sold timestamp, customer_id bigint, product_id bigint, price double);
CREATE TABLE customer (id bigint, nation string);
CREATE TABLE product (id bigint, brand string);
INSERT INTO sales VALUES ('2020-01-05 00:00:00', 1, 1, 10.0), ('2020-01-06 12:00:00', 2, 1, 20.0), ('2020-02-01 00:00:00', 2, 2, 5.5), ('2020-02-01 00:00:00', 2, 2, 5.5);
INSERT INTO customer VALUES (1, 'NO'), (2, 'US'), (3, 'XX');
INSERT INTO product VALUES (1, 'b1'), (2, 'b2');
CREATE MATERIALIZED VIEW star STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler' TBLPROPERTIES ('druid.segment.granularity' = 'MONTH') AS
SELECT sold AS `__time`, nation, brand, price FROM customer, sales, product WHERE customer_id = customer.id AND product_id = product.id;
EXPLAIN SELECT nation, year(sold), sum(price), count(*) FROM sales JOIN customer ON customer.id = sales.customer_id JOIN product ON product.id = product_id WHERE brand = 'b1' GROUP BY nation, year(sold);
SELECT nation, year(sold), sum(price), count(*) FROM sales JOIN customer ON customer.id = sales.customer_id JOIN product ON product.id = product_id WHERE brand = 'b1' GROUP BY nation, year(sold) ORDER BY nation;
EXPLAIN EXTENDED SELECT month(sold), sum(price) FROM sales WHERE price > 1 GROUP BY month(sold);
SELECT month(sold) AS m, sum(price), count(*) FROM sales WHERE sold >= '2020-01-01' GROUP BY month(sold) ORDER BY m;
SELECT nation, count(*) FROM customer GROUP BY nation ORDER BY nation;
-- A key twice: every sale of that customer counts twice in the view, and no longer in a query without customers.
INSERT INTO customer VALUES (2, 'CA');
SELECT count(*), sum(price) FROM sales;
ALTER MATERIALIZED VIEW star REBUILD;
EXPLAIN EXTENDED SELECT count(*), sum(price) FROM sales;
SELECT nation, sum(price) FROM sales, customer, product WHERE customer_id = customer.id AND product_id = product.id GROUP BY nation ORDER BY nation;
DROP MATERIALIZED VIEW star;
