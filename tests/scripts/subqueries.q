-- IN, NOT IN, EXISTS, scalar subqueries, and comparisons with them.
CREATE TEMPORARY TABLE o AS SELECT stack(4, 1, 10, 100.5D, 2, 10, 50.0D, 3, 20, 75.0D, 4, 30, NULL) AS (id, cust, amount);
CREATE TEMPORARY TABLE c AS SELECT stack(3, 10, 'x', 20, 'y', 40, 'z') AS (cust, name);
SELECT id FROM o WHERE cust IN (SELECT cust FROM c) ORDER BY id;
SELECT id FROM o WHERE cust NOT IN (SELECT cust FROM c WHERE cust IS NOT NULL) ORDER BY id;
SELECT name FROM c WHERE EXISTS (SELECT * FROM o WHERE o.cust = c.cust AND o.amount > 60) ORDER BY name;
SELECT id, amount FROM o WHERE amount > (SELECT avg(amount) FROM o) ORDER BY id;
SELECT c.name, (SELECT count(*) FROM o WHERE o.cust = c.cust) AS n FROM c ORDER BY c.name;
SELECT id, amount FROM o a WHERE amount = (SELECT max(b.amount) FROM o b WHERE b.cust = a.cust) ORDER BY id;
SELECT * FROM (SELECT cust, sum(amount) AS s FROM o GROUP BY cust) t WHERE s BETWEEN 70 AND 200 ORDER BY cust;
