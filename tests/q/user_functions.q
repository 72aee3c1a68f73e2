-- Python functions, in SELECT and in writes; errors have positions.
CREATE FUNCTION net AS 'fares.net' USING FILE 'data/fares.py';
CREATE TEMPORARY FUNCTION clean AS 'fares.clean' USING FILE 'data/fares.py';
CREATE TEMPORARY FUNCTION total AS 'fares.total' USING FILE 'data/fares.py';
CREATE TEMPORARY FUNCTION parts AS 'fares.parts' USING FILE 'data/fares.py';
CREATE TEMPORARY FUNCTION words AS 'fares.words' USING FILE 'data/fares.py';
CREATE TEMPORARY FUNCTION lengths AS 'fares.lengths' USING FILE 'data/fares.py';
CREATE TEMPORARY FUNCTION wrong AS 'fares.wrong' USING FILE 'data/fares.py';
CREATE TEMPORARY FUNCTION large AS 'fares.large' USING FILE 'data/fares.py';
SHOW FUNCTIONS LIKE 'clean|*net';
DESCRIBE FUNCTION net;
DESCRIBE FUNCTION default.net;

-- types, NULL, defaults, any number of arguments
SELECT net(11.90BD), net(12, 'FR'), net(NULL), net(1, NULL), clean(NULL), clean('  a   b '), total(1), total(1, 2, 3);
SELECT parts('2024-02-29', timestamp '2024-02-29 12:00:00.5', '0.25'), words('a bb'), lengths(words('a bb'))['bb'];
SELECT wrong(1);
SELECT large(10);
SELECT net(10, 'XX');

-- errors of calls
SELECT total('a');
SELECT total();
SELECT net(1, 'DE', 2);
SELECT claen('a');
SELECT nosuch.clean('a');

-- over a table in Druid: what is below the function is pushed down
CREATE TABLE rides (`__time` TIMESTAMP, city STRING, fare DOUBLE) STORED BY 'druid';
INSERT INTO rides VALUES (timestamp '2024-01-01 00:00:00', clean(' Bad   Homburg'), 10.0), (timestamp '2024-01-01 01:00:00', 'Bad Homburg', 20.0), (timestamp '2024-01-02 00:00:00', 'Ulm', NULL);
EXPLAIN SELECT clean(city), sum(fare) FROM rides WHERE `__time` < '2024-01-02' AND clean(city) <> 'x' GROUP BY clean(city);
SELECT clean(city) AS c, sum(fare) FROM rides WHERE `__time` < '2024-01-02' AND clean(city) <> 'x' GROUP BY clean(city);
SELECT a.city FROM rides a JOIN (VALUES (' Ulm ')) AS b (city) ON clean(a.city) = clean(b.city);

-- changes of a managed table
CREATE TABLE stops (id INT, name STRING);
INSERT INTO stops VALUES (1, clean(' a  b ')), (2, 'c');
UPDATE stops SET name = clean(concat(name, '   ', name)) WHERE clean(name) = 'a b';
MERGE INTO stops s USING (SELECT 2 AS id, ' d  d ' AS name UNION ALL SELECT 3, ' e') n ON s.id = n.id WHEN MATCHED AND clean(n.name) = 'd d' THEN UPDATE SET name = clean(n.name) WHEN NOT MATCHED THEN INSERT VALUES (n.id, clean(n.name));
SELECT * FROM stops ORDER BY id;
UPDATE stops SET name = claen(name);
MERGE INTO stops s USING rides r ON s.id = r.fare WHEN MATCHED THEN UPDATE SET name = claen(s.name);
CREATE TABLE checked (name STRING, CHECK (clean(name) <> '') ENABLE);
CREATE TABLE checked (name STRING, CHECK (claen(name) <> '') ENABLE);
CREATE TABLE defaulted (name STRING DEFAULT claen('a'));

-- views keep the database of a function
CREATE VIEW netto AS SELECT net(fare) AS n FROM rides;
CREATE VIEW netto AS SELECT city, net(CAST(fare AS DECIMAL(10,2))) AS n FROM rides;
SHOW CREATE TABLE netto;
CREATE DATABASE other;
USE other;
SELECT net(1);
SELECT city, n FROM default.netto ORDER BY city, n;
USE default;
CREATE MATERIALIZED VIEW cleaned STORED BY 'druid' AS SELECT `__time`, clean(city) AS c FROM rides;
CREATE VIEW cleaned AS SELECT clean(city) AS c FROM rides;

-- names
EXPLAIN CREATE FUNCTION gross AS 'fares.total' USING FILE 'data/fares.py';
CREATE FUNCTION net AS 'fares.net' USING FILE 'data/fares.py';
CREATE FUNCTION IF NOT EXISTS net AS 'fares.clean' USING FILE 'data/fares.py';
CREATE FUNCTION upper AS 'fares.clean' USING FILE 'data/fares.py';
CREATE TEMPORARY FUNCTION upper AS 'fares.clean' USING FILE 'data/fares.py';
SELECT upper(' a  b');
DROP TEMPORARY FUNCTION upper;
SELECT upper('ab');
DROP FUNCTION net;
SELECT n FROM netto;
SET hive.exec.drop.ignorenonexistent=false;
DROP FUNCTION net;
DROP TEMPORARY FUNCTION IF EXISTS net;

-- rows for each row, and a value for each group
CREATE TEMPORARY FUNCTION numbered AS 'fares.numbered' USING FILE 'data/fares.py';
CREATE TEMPORARY FUNCTION middle AS 'fares.middle' USING FILE 'data/fares.py';
SELECT t.id, p.n, p.word FROM (SELECT 1 AS id, 'x y' AS s UNION ALL SELECT 2, 'z') t LATERAL VIEW inline(numbered(t.s)) p ORDER BY id, n;
SELECT k, middle(collect_list(CAST(v AS DOUBLE))) FROM (SELECT 'a' AS k, 1 AS v UNION ALL SELECT 'a', 5 UNION ALL SELECT 'a', 9 UNION ALL SELECT 'b', 2) t GROUP BY k ORDER BY k;

-- functions that cannot be created
CREATE FUNCTION f AS 'fares.bare' USING FILE 'data/fares.py';
CREATE FUNCTION f AS 'fares.union' USING FILE 'data/fares.py';
CREATE FUNCTION f AS 'fares.missing' USING FILE 'data/fares.py';
CREATE FUNCTION f AS 'missing.f' USING FILE 'data/missing.py';
CREATE FUNCTION f AS 'nosuchmodule.f';
CREATE FUNCTION f AS 'math.sqrt';
CREATE FUNCTION f AS 'f';
CREATE FUNCTION nosuch.f AS 'fares.net' USING FILE 'data/fares.py';
CREATE TEMPORARY FUNCTION default.f AS 'fares.net' USING FILE 'data/fares.py';
CREATE FUNCTION f AS 'com.example.MyUdf' USING JAR 'my.jar';
CREATE FUNCTION f AS 'fares.net' USING FILE 'data/fares.py', JAR 'my.jar';
CREATE FUNCTION f AS 'fares.net' USING ARCHIVE 'a.zip';
