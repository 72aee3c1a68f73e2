-- MERGE with all three branches, from a feed that marks deleted rows.
CREATE TABLE products (id INT, name STRING, price DECIMAL(8,2), updated DATE) STORED AS ORC TBLPROPERTIES ('transactional' = 'true');
INSERT INTO products VALUES (1, 'cup', 4.00, '2024-01-01'), (2, 'mug', 5.50, '2024-01-01'), (3, 'jar', 7.25, '2024-01-01');
CREATE TEMPORARY TABLE feed AS
SELECT inline(array(struct(1, 'cup', 4.50, 'U'), struct(3, 'jar', 0.00, 'D'), struct(4, 'pot', 19.00, 'I'))) AS (id, name, price, op);
MERGE INTO products USING feed ON products.id = feed.id
WHEN MATCHED AND feed.op = 'D' THEN DELETE
WHEN MATCHED AND feed.op = 'U' THEN UPDATE SET price = feed.price, updated = DATE '2024-02-01'
WHEN NOT MATCHED THEN INSERT VALUES (feed.id, feed.name, feed.price, DATE '2024-02-01');
SELECT * FROM products ORDER BY id;
UPDATE products SET name = concat(name, ' (old)') WHERE updated < DATE '2024-02-01';
DELETE FROM products WHERE price > 10;
SELECT name, price FROM products ORDER BY name;
