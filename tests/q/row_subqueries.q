-- Subqueries in UPDATE and DELETE. The results are those of Hive 4.0.1, unless a comment says why not.
CREATE TABLE t (a INT, s STRING, d DECIMAL(5, 2));
CREATE TEMPORARY TABLE u (a INT, s STRING);
INSERT INTO u VALUES (1, 'x'), (1, 'xx'), (2, 'y'), (4, 'z'), (NULL, 'w');
-- a table without rows
DELETE FROM t WHERE a IN (SELECT a FROM u);
INSERT INTO t VALUES (1, 'one', 1.5), (2, 'two', 2.5), (3, 'three', NULL), (4, 'four', 4), (NULL, 'none', 0);
EXPLAIN UPDATE t SET s = (SELECT max(u.s) FROM u WHERE u.a = t.a) WHERE a IN (SELECT a FROM u WHERE s <> 'y') AND d > 0;
EXPLAIN FORMATTED DELETE FROM t WHERE a = (SELECT max(a) FROM u);
UPDATE t SET s = (SELECT max(u.s) FROM u WHERE u.a = t.a), d = (SELECT 7.777) WHERE a IN (SELECT a FROM u WHERE s <> 'y') AND d > 0;
SELECT * FROM t ORDER BY a;
UPDATE t SET s = (SELECT max(s) FROM u) WHERE a = 2;
UPDATE t SET s = 'none of u' WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.a = t.a);
SELECT * FROM t ORDER BY a;
-- nulls: NOT IN is true for no row if the list has a NULL, and never for NULL; no row is lost
UPDATE t SET s = 'never' WHERE a NOT IN (SELECT a FROM u);
DELETE FROM t WHERE a NOT IN (SELECT a FROM u);
UPDATE t SET s = 'not listed' WHERE a NOT IN (SELECT a FROM u WHERE a IS NOT NULL);
UPDATE t SET s = concat(s, '!') WHERE (a IN (SELECT a FROM u)) IS NULL;
UPDATE t SET s = concat(s, '?') WHERE a IN (SELECT a FROM u WHERE a > 1) OR NOT (s <> 'one' AND a IN (SELECT a FROM u));
SELECT * FROM t ORDER BY a;
-- a subquery of the table itself, of a join, of a union, over nothing, several columns
DELETE FROM t WHERE a = (SELECT max(a) FROM t);
UPDATE t SET d = (SELECT sum(x.a) FROM t x JOIN u y ON x.a = y.a WHERE y.a = t.a) WHERE a < 3;
UPDATE t SET d = d + 1 WHERE a IN (WITH n AS (SELECT 1 AS a UNION ALL SELECT 3) SELECT a FROM n);
DELETE FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a AND u.s = 'none');
UPDATE t SET s = (SELECT s FROM u WHERE false) WHERE (a, 'y') IN (SELECT a, s FROM u);
SELECT * FROM t ORDER BY a;
-- a scalar subquery with several rows
UPDATE t SET s = (SELECT s FROM u);
SELECT count(*) FROM t WHERE s IS NULL;
-- partitions and renamed columns
CREATE TABLE p (day DATE, city STRING, n BIGINT) PARTITIONED BY SPEC (day, city);
INSERT INTO p VALUES ('2024-01-01', 'Oslo', 1), ('2024-01-02', NULL, 2), (NULL, 'Rome', 3);
ALTER TABLE p CHANGE COLUMN n number BIGINT;
DELETE FROM p WHERE number IN (SELECT a FROM u WHERE a = number AND number > 1);
UPDATE p SET city = (SELECT max(s) FROM u WHERE u.a = p.number) WHERE city NOT IN (SELECT s FROM u);
SELECT * FROM p ORDER BY number;
-- subqueries over Druid
CREATE TABLE dr (`__time` TIMESTAMP, a BIGINT, k STRING) STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false');
INSERT INTO dr VALUES ('2024-01-01', 1, 'x'), ('2024-01-01', 2, 'x'), ('2024-01-02', 5, 'y');
EXPLAIN DELETE FROM p WHERE number IN (SELECT sum(a) FROM dr GROUP BY k);
UPDATE p SET city = (SELECT max(k) FROM dr WHERE dr.a < p.number) WHERE number > (SELECT min(a) FROM dr WHERE k = 'x');
SELECT * FROM p ORDER BY number;
UPDATE p SET city = (SELECT max(k) FROM dr WHERE dr.a = p.number + 1) WHERE number >= (SELECT min(a) FROM dr WHERE k = 'x');
DELETE FROM p WHERE EXISTS (SELECT 1 FROM dr WHERE dr.a > p.number + 3);
SELECT * FROM p ORDER BY number;
DELETE FROM p WHERE number IN (SELECT sum(a) FROM dr GROUP BY k);
SELECT * FROM p ORDER BY number;
-- what is refused
DELETE FROM t WHERE a IN (SELECT a, s FROM u);
DELETE FROM t WHERE a IN (SELECT missing FROM u);
UPDATE t SET a = count(*) WHERE a IN (SELECT a FROM u);
