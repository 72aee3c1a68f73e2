-- UPDATE and DELETE change rows of managed tables, each in one commit.
CREATE TABLE t (a INT, s STRING, d DOUBLE, n DECIMAL(5, 2), ts TIMESTAMP, b BOOLEAN, v VARCHAR(3), k TINYINT, day DATE);
-- a table without rows
DELETE FROM t;
UPDATE t SET a = 1;
EXPLAIN DELETE FROM t WHERE a = 1;
INSERT INTO t VALUES
  (1, 'one', 1.5, 1.25, '2024-01-01 10:00:00', true, 'abc', 1, '2024-01-01'),
  (2, 'two', NULL, 2.5, '2024-01-02 10:00:00', false, 'b', 2, '2024-01-02');
INSERT INTO t VALUES
  (3, NULL, 3.5, NULL, NULL, NULL, NULL, NULL, NULL),
  (NULL, 'none', -1.0, 9.99, '2024-01-04 10:00:00', true, 'd', 4, '2024-01-04');
EXPLAIN DELETE FROM t WHERE a > 2 AND s IS NULL;
EXPLAIN FORMATTED UPDATE t SET a = a + 1, s = 'x' WHERE a = 1;
EXPLAIN CBO DELETE FROM t WHERE a = 1 + 1;
EXPLAIN UPDATE t SET v = 'x' WHERE 1 = 2;
-- only rows for which the condition is true: a null is neither equal nor different
UPDATE t SET s = 'changed' WHERE s <> 'one';
SELECT a, s FROM t ORDER BY s, a;
UPDATE t SET s = 'again' WHERE NOT (s = 'one');
SELECT a, s FROM t ORDER BY s, a;
-- all values of a row are computed from the old ones
UPDATE t SET a = k, k = a, d = d * 2 WHERE a IN (1, 2);
UPDATE t SET a = a + 10, d = a WHERE a = 1;
SELECT a, k, d FROM t ORDER BY k, a;
-- values are converted to the types of their columns, as by INSERT
UPDATE t SET v = 'abcdef', n = 1.23456, k = 300, ts = '2024-05-06 07:08:09.1234567', day = '2024-05-06', b = 'yes', s = 12.50
WHERE s = 'one';
INSERT INTO t SELECT 100, 12.50, NULL, 1.23456, '2024-05-06 07:08:09.1234567', 'yes', 'abcdef', 300, '2024-05-06';
SELECT a, s, n, ts, b, v, k, day FROM t WHERE v = 'abc' ORDER BY a;
UPDATE t SET n = 12345.6, a = 'text', d = '1e3', k = 3.7 WHERE v = 'abc';
SELECT a, s, d, n, k FROM t WHERE v = 'abc' ORDER BY s, a;
UPDATE t SET s = NULL, a = NULL, b = NULL WHERE v = 'abc';
SELECT a, s, b, v FROM t ORDER BY v, a;
-- conditions
DELETE FROM t WHERE b;
DELETE FROM t WHERE ts >= '2024-01-02' AND ts < '2024-01-03';
SELECT a, s, v, ts FROM t ORDER BY v, a, ts;
DELETE FROM t WHERE a IS NULL OR length(s) > 100;
SELECT a, s, v FROM t ORDER BY v;
DELETE FROM default.t WHERE t.a = 99;
DELETE FROM t;
SELECT count(*) FROM t;
DROP TABLE t;
-- partitions
CREATE TABLE p (day DATE, city STRING, n BIGINT) PARTITIONED BY SPEC (day, truncate(2, city));
INSERT INTO p VALUES ('2024-01-01', 'Oslo', 1), ('2024-01-01', 'Rome', 2), ('2024-01-02', NULL, 3), (NULL, 'Oslo', 4);
EXPLAIN DELETE FROM p WHERE day = '2024-01-01' AND city IN ('Rome', 'Lima');
DELETE FROM p WHERE city IN ('Rome', 'Lima');
UPDATE p SET day = '2024-03-01', city = concat(city, '!') WHERE n = 1;
SELECT * FROM p ORDER BY n;
DELETE FROM p WHERE day = '2024-03-01';
SELECT * FROM p ORDER BY n;
-- by the metadata of its file, a null would be different from 'Rome'
DELETE FROM p WHERE city <> 'Rome';
SELECT * FROM p ORDER BY n;
SELECT n FROM p WHERE NOT (city LIKE 'R%') OR city = 'Rome';
DELETE FROM p WHERE NOT (city = 'Rome') OR NOT (city LIKE 'R%') OR city NOT IN ('Rome');
SELECT * FROM p ORDER BY n;
-- columns that were added since the last write
ALTER TABLE p ADD COLUMNS (note STRING);
UPDATE p SET note = 'new' WHERE note IS NULL;
SELECT * FROM p ORDER BY n;
DROP TABLE p;
-- what is refused
CREATE TABLE m (a INT, b ARRAY<INT>, day DATE);
UPDATE m SET c = 1;
UPDATE m SET a = 1, a = 2;
UPDATE m SET b = 1;
UPDATE m SET day = 5;
UPDATE m SET a = count(*);
UPDATE m SET a = row_number() OVER (ORDER BY a);
UPDATE m SET a = explode(b);
UPDATE m SET a = 1 WHERE c = 1;
UPDATE m SET a = 1 x;
UPDATE m SET a;
DELETE FROM m WHERE rand() < 0.5;
DELETE FROM m WHERE count(*) > 1;
DELETE FROM m x WHERE a = 1;
DELETE FROM m WHERE a = 1 ORDER BY a;
DELETE FROM m WHERE;
DELETE m;
DELETE FROM nowhere;
CREATE TABLE dr (`__time` TIMESTAMP, a BIGINT) STORED BY 'druid';
DELETE FROM dr WHERE a = 1;
UPDATE dr SET a = 1;
CREATE EXTERNAL TABLE f (a INT) STORED AS ORC LOCATION '/tmp/no/where';
DELETE FROM f;
CREATE VIEW w AS SELECT a FROM m;
UPDATE w SET a = 1;
CREATE MATERIALIZED VIEW mv AS SELECT a, count(*) AS c FROM m GROUP BY a;
DELETE FROM mv;
