-- Several databases, qualified names, and the same name twice.
CREATE DATABASE IF NOT EXISTS raw COMMENT 'as delivered' WITH DBPROPERTIES ('team' = 'data');
CREATE SCHEMA mart;
USE raw;
CREATE TABLE t (k STRING, n INT);
INSERT INTO t VALUES ('x', 1), ('y', 2);
USE mart;
CREATE TABLE t AS SELECT upper(k) AS k, n * 10 AS n FROM raw.t;
SELECT a.k, b.n FROM raw.t a JOIN mart.t b ON upper(a.k) = b.k ORDER BY a.k;
INSERT INTO raw.t SELECT lower(k), n FROM t WHERE n > 10;
SELECT * FROM raw.t ORDER BY k, n;
SHOW TABLES IN raw;
SELECT current_database() AS db;
ALTER DATABASE mart SET DBPROPERTIES ('team' = 'bi');
USE default;
DROP DATABASE raw CASCADE;
SHOW DATABASES LIKE 'm%';
