-- What becomes of every type when it is written to Druid, and what is refused.
SET hive.local.time.zone=Asia/Kolkata;
CREATE TABLE every STORED BY 'druid'
TBLPROPERTIES ('druid.rollup' = 'false', 'druid.columns.as' = 'price:string, cost:double, raw:string') AS
SELECT id, ts AS `__time`, CAST(d AS DECIMAL(23,4)) AS price, CAST(d AS DECIMAL(3,1)) AS cost, CAST(s AS BINARY) AS raw,
  CAST(ts AS DATE) AS day, split(s, ',') AS tags, id > 1 AS ok, CAST(id AS TINYINT) AS t, CAST(x AS FLOAT) AS f,
  CAST(x AS DOUBLE) AS x, n, CAST(s AS VARCHAR(3)) AS v, CAST(s AS CHAR(2)) AS c, s
FROM (
  SELECT 1 AS id, TIMESTAMP '2024-03-31 23:59:59.999999' AS ts, '1234567890123456789.1234' AS d, 'b,a,b' AS s, 'NaN' AS x, 9007199254740993 AS n
  UNION ALL SELECT 2, TIMESTAMP '1969-12-31 23:59:59.999900', '-0.05', '', 'Infinity', -9007199254740993
  UNION ALL SELECT 3, TIMESTAMP '2024-02-29 00:00:00', NULL, NULL, '0.1', 9223372036854775807
  UNION ALL SELECT 4, TIMESTAMP '2024-02-29 00:00:00', '7', 'line\nbreak "q" \\ ü€😀', '-1e-300', 0) v;
DESCRIBE every;
SELECT id, `__time`, price, cost, raw, day FROM every ORDER BY id;
SELECT id, tags, ok, t, f, x, n, v, c, s FROM every ORDER BY id;
SELECT id FROM every WHERE s = '' OR s IS NULL ORDER BY id;
SELECT id FROM every WHERE tags = array('b', 'a', 'b');
SELECT id FROM every WHERE array_contains(tags, 'a');
SELECT size(tags), count(*) FROM every WHERE tags IS NOT NULL GROUP BY size(tags) ORDER BY 1;
SELECT e, count(*) FROM every LATERAL VIEW explode(tags) x AS e WHERE id = 1 GROUP BY e ORDER BY e;
SELECT day, count(*) FROM every WHERE day >= '2024-01-01' GROUP BY day ORDER BY day;

-- an instant of the session's zone; a date is its midnight
CREATE TABLE instants (`__time` TIMESTAMP WITH LOCAL TIME ZONE, k STRING) STORED BY 'druid';
INSERT INTO instants SELECT TIMESTAMP '2024-01-01 05:30:00', 'timestamp';
INSERT INTO instants SELECT DATE '2024-01-01', 'date';
INSERT INTO instants SELECT '2024-01-01 00:00:00.0009', 'text';
SELECT `__time`, k FROM instants ORDER BY `__time`, k;
SET hive.local.time.zone=UTC;
SELECT `__time`, k FROM instants ORDER BY `__time`, k;

-- the property gives declared columns their types, too; values are converted as by CAST
CREATE TABLE declared (`__time` TIMESTAMP, p DECIMAL(9,2), raw BINARY, day DATE, small TINYINT, tags ARRAY<STRING>) STORED BY 'druid'
TBLPROPERTIES ('druid.columns.as' = 'p:double, raw:string, day:string', 'druid.rollup' = 'false');
INSERT INTO declared SELECT DATE '2024-01-01', CAST(1.50 AS DECIMAL(9,2)), CAST('xyz' AS BINARY), DATE '2024-02-29', 300, array('b', 'a');
INSERT INTO declared (`__time`, small, tags) SELECT '2024-01-02', 'many', array();
SELECT * FROM declared ORDER BY `__time`;

-- no time
CREATE TABLE timeless (`__time` TIMESTAMP, k STRING) STORED BY 'druid';
INSERT INTO timeless SELECT CAST(t AS TIMESTAMP), t FROM (SELECT '2024-01-01' AS t UNION ALL SELECT 'yesterday' UNION ALL SELECT NULL) v;
SELECT count(*) FROM timeless;
SET hivedruid.null.time=skip;
INSERT INTO timeless SELECT CAST(t AS TIMESTAMP), t FROM (SELECT '2024-01-01' AS t UNION ALL SELECT 'yesterday' UNION ALL SELECT NULL) v;
SELECT * FROM timeless;

-- nanoseconds
CREATE TABLE fine AS SELECT TIMESTAMP '2024-01-01 00:00:00.123456789' AS t;
INSERT INTO fine VALUES ('2024-01-02 00:00:00.123456789'), ('2024-01-03 00:00:00.123456000');
INSERT INTO fine SELECT CAST('2024-01-04 00:00:00.1234567' AS TIMESTAMP);
SELECT t FROM fine ORDER BY t;
DROP TABLE fine;

-- refused
CREATE TABLE no STORED BY 'druid' AS SELECT DATE '2024-01-01' AS `__time`;
CREATE TABLE no STORED BY 'druid' AS SELECT DATE '2024-01-01' AS d;
CREATE TABLE no STORED BY 'druid' AS SELECT 1 AS `__time`;
CREATE TABLE no STORED BY 'druid' AS SELECT TIMESTAMP '2024-01-01 00:00:00' AS `__time`, 1.5 AS p;
CREATE TABLE no STORED BY 'druid' AS SELECT TIMESTAMP '2024-01-01 00:00:00' AS `__time`, CAST('a' AS BINARY) AS b;
CREATE TABLE no STORED BY 'druid' AS SELECT TIMESTAMP '2024-01-01 00:00:00' AS `__time`, array(1, 2) AS a;
CREATE TABLE no STORED BY 'druid' AS SELECT TIMESTAMP '2024-01-01 00:00:00' AS `__time`, TIMESTAMP '2024-01-01 00:00:00' AS other;
CREATE TABLE no STORED BY 'druid' AS SELECT TIMESTAMP '2024-01-01 00:00:00' AS `__time`, 1 AS a, 2 AS a;
CREATE TABLE no STORED BY 'druid' AS SELECT TIMESTAMP '2024-01-01 00:00:00' AS `__time`, 1 AS `__time_granularity`;
CREATE TABLE no STORED BY 'druid' TBLPROPERTIES ('druid.columns.as' = 'n:double') AS SELECT TIMESTAMP '2024-01-01 00:00:00' AS `__time`, 1 AS n;
CREATE TABLE no STORED BY 'druid' TBLPROPERTIES ('druid.columns.as' = 'n:bigint') AS SELECT TIMESTAMP '2024-01-01 00:00:00' AS `__time`, 1.5 AS n;
CREATE MATERIALIZED VIEW no STORED BY 'druid' TBLPROPERTIES ('druid.columns.as' = 'p:double') AS SELECT `__time`, p FROM declared;
INSERT INTO declared SELECT 1, 1, NULL, NULL, 1, NULL;
INSERT INTO declared SELECT '2024-01-01', 1, NULL, NULL, 1, 'text';
INSERT INTO declared SELECT '2024-01-01', 1;
SHOW TABLES;
