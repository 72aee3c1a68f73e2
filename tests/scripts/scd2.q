-- A dimension with history: changed customers are closed and inserted again with MERGE.
CREATE TABLE dim_customer (
  customer_id INT, city STRING, valid_from DATE, valid_to DATE, is_current BOOLEAN)
CLUSTERED BY (customer_id) INTO 4 BUCKETS
STORED AS ORC
TBLPROPERTIES ('transactional' = 'true');
INSERT INTO dim_customer VALUES
  (1, 'Graz', DATE '2020-01-01', DATE '9999-12-31', true),
  (2, 'Linz', DATE '2020-01-01', DATE '9999-12-31', true),
  (3, 'Wien', DATE '2020-01-01', DATE '9999-12-31', true);
CREATE TEMPORARY TABLE customer_feed AS
SELECT inline(array(struct(1, 'Wels'), struct(2, 'Linz'), struct(4, 'Enns'))) AS (customer_id, city);
MERGE INTO dim_customer AS t
USING (
  SELECT customer_id AS merge_key, customer_id, city FROM customer_feed
  UNION ALL
  SELECT NULL, f.customer_id, f.city
  FROM customer_feed f JOIN dim_customer d ON f.customer_id = d.customer_id
  WHERE d.is_current AND f.city <> d.city
) AS s
ON t.customer_id = s.merge_key AND t.is_current
WHEN MATCHED AND t.city <> s.city THEN UPDATE SET valid_to = DATE '2024-03-31', is_current = false
WHEN NOT MATCHED THEN INSERT VALUES (s.customer_id, s.city, DATE '2024-04-01', DATE '9999-12-31', true);
SELECT * FROM dim_customer ORDER BY customer_id, valid_from;
SELECT customer_id, city FROM dim_customer WHERE DATE '2024-02-29' BETWEEN valid_from AND valid_to ORDER BY customer_id;
