-- Rows through programs, as in Hive 4.0.1. The first query is refused.
SELECT TRANSFORM(1) USING 'cat' AS (x INT);
SET hivedruid.transform.enabled=true;
CREATE TABLE src AS SELECT 1 AS a, 'x' AS b, 1.5D AS d, timestamp '2024-01-01 10:00:00.5' AS ts, array(1, 2) AS arr, map('k', 1) AS m, named_struct('x', 1, 'y', 'q') AS st, true AS bo
UNION ALL SELECT 2, NULL, NULL, NULL, NULL, NULL, named_struct('x', CAST(NULL AS INT), 'y', 'q'), false;
SELECT TRANSFORM(a, b, d, ts, arr, m, st, bo) USING 'cat' AS (a, b, d, ts, arr, m, st, bo) FROM src ORDER BY a;
SELECT TRANSFORM(a, b, arr, m, st) ROW FORMAT DELIMITED FIELDS TERMINATED BY '|' COLLECTION ITEMS TERMINATED BY '-' MAP KEYS TERMINATED BY ':' USING 'cat' AS (line STRING) FROM src ORDER BY line;
SELECT TRANSFORM(a, b, d) USING 'cat' FROM src ORDER BY key;
SELECT TRANSFORM(a, b, d) USING 'cat' AS (x INT, y STRING, z DOUBLE, w INT) FROM src WHERE a > 0 ORDER BY x;
SELECT TRANSFORM(a, b) USING 'sed s/x/NULL/' AS (x, y) ROW FORMAT DELIMITED FIELDS TERMINATED BY '\t' NULL DEFINED AS 'NULL' FROM src ORDER BY x;
FROM (FROM src MAP a, b USING 'cat' AS k, v CLUSTER BY k) m REDUCE m.k, m.v USING 'uniq -c' AS (n STRING) ORDER BY n;
SELECT x, count(*) FROM (SELECT TRANSFORM(count(*), bo) USING 'cat' AS (x INT, y) FROM src GROUP BY bo) q GROUP BY x;
SELECT s.x, t.d FROM (SELECT TRANSFORM(a) USING 'cat' AS (x INT) FROM src) s JOIN src t ON s.x = t.a ORDER BY s.x;
ADD FILE data/sums.sh;
FROM (SELECT pos % 3 AS k, pos AS v FROM (SELECT 1) q LATERAL VIEW posexplode(split(repeat(',', 99), ',')) p AS pos, x DISTRIBUTE BY k SORT BY k, v DESC) q
SELECT TRANSFORM(k, v) USING './sums.sh' AS (k INT, first INT, total BIGINT) ORDER BY k;
EXPLAIN SELECT TRANSFORM(a) USING 'cat' AS (x INT) FROM src;
SELECT TRANSFORM(a) USING 'exit 3' AS (x INT) FROM src;
SELECT TRANSFORM(a), b USING 'cat' FROM src;
SELECT TRANSFORM(a) ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.OpenCSVSerde' USING 'cat' AS (x) FROM src;
SELECT TRANSFORM(a) USING 'cat' AS (x) FROM (SELECT a FROM src DISTRIBUTE BY a + 1) q;
SELECT TRANSFORM(a) USING 'cat' AS (x CHAR(3), y TIMESTAMP WITH LOCAL TIME ZONE) FROM src ORDER BY x;
SELECT TRANSFORM(a) USING 'cat' AS (x) FROM (SELECT a FROM src SORT BY a DESC LIMIT 1) q;
WITH q AS (SELECT a FROM src DISTRIBUTE BY a) SELECT TRANSFORM(a) USING 'cat' AS (x) FROM q;
SELECT TRANSFORM(a) USING 'cat' AS (x) FROM (SELECT * FROM (SELECT a FROM src CLUSTER BY a) i) q;
SELECT a FROM src s WHERE EXISTS (SELECT TRANSFORM(b) USING 'cat' AS (x) FROM src WHERE a = s.a);
CREATE TABLE written (x STRING, y STRING);
FROM (FROM src MAP a, b USING 'cat' AS k, v CLUSTER BY k) m INSERT OVERWRITE TABLE written REDUCE m.k, m.v USING 'cat' AS x, y;
SELECT * FROM written ORDER BY x;
CREATE TABLE map AS SELECT 1 AS a, 'm' AS c;
SELECT a, m.c FROM src JOIN map m USING (a);
DROP TABLE map;
DROP TABLE written;
DROP TABLE src;
