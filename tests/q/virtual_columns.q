-- INPUT__FILE__NAME and BLOCK__OFFSET__INSIDE__FILE: the file of a row and the offset of its line, as Hive 4.0.1 returns them.
CREATE EXTERNAL TABLE lines (name STRING, n INT) ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' LOCATION '${dir}/data/line_ends';
SELECT name, n, regexp_replace(INPUT__FILE__NAME, '.*/', '') AS file, BLOCK__OFFSET__INSIDE__FILE
FROM lines ORDER BY file, block__offset__inside__file;
SELECT * FROM lines WHERE input__file__name LIKE 'file:/%/mark.txt' ORDER BY n;
SELECT count(DISTINCT l.INPUT__FILE__NAME), max(l.BLOCK__OFFSET__INSIDE__FILE) FROM lines l;
CREATE EXTERNAL TABLE p (name STRING, n INT) PARTITIONED BY (`k` STRING) ROW FORMAT DELIMITED FIELDS TERMINATED BY ','
LOCATION '${home}/p' TBLPROPERTIES ('skip.header.line.count' = '1');
LOAD DATA LOCAL INPATH '${dir}/data/line_ends/mixed.txt' INTO TABLE p PARTITION (k = 'a b+c%');
ALTER TABLE p ADD PARTITION (k = 'elsewhere') LOCATION '${dir}/data/line_ends';
SELECT k, regexp_extract(INPUT__FILE__NAME, '[^/]*/[^/]*$', 0) AS file, BLOCK__OFFSET__INSIDE__FILE AS at, name
FROM p WHERE BLOCK__OFFSET__INSIDE__FILE < 10 ORDER BY k, file, at;
-- conditions on partition columns choose partitions, too
EXPLAIN SELECT name FROM p WHERE k = 'elsewhere' AND INPUT__FILE__NAME LIKE '%.gz';
SELECT name FROM p WHERE k = 'elsewhere' AND INPUT__FILE__NAME LIKE '%.gz' ORDER BY name;
-- they are columns of tables alone
SELECT INPUT__FILE__NAME FROM lines JOIN p ON lines.n = p.n;
SELECT count(*) FROM lines a JOIN p b ON a.INPUT__FILE__NAME = b.INPUT__FILE__NAME AND a.n = b.n WHERE b.k = 'elsewhere';
SELECT x.INPUT__FILE__NAME FROM (SELECT * FROM lines) x;
SELECT INPUT__FILE__NAME FROM (lines) x;
CREATE VIEW files AS SELECT DISTINCT INPUT__FILE__NAME AS file FROM lines;
SELECT regexp_replace(file, '.*/', '') AS file FROM files ORDER BY file;
SELECT INPUT__FILE__NAME FROM files;
CREATE TEMPORARY TABLE seen AS SELECT INPUT__FILE__NAME, n FROM lines;
DESCRIBE seen;
SELECT * FROM lines AS l (a, b) WHERE l.BLOCK__OFFSET__INSIDE__FILE = 6;
-- other formats have no offsets
CREATE EXTERNAL TABLE events (i INT) STORED AS JSONFILE LOCATION '${home}/events';
SELECT i, INPUT__FILE__NAME FROM events;
LOAD DATA LOCAL INPATH '${dir}/data/load/c.json' INTO TABLE events;
SELECT i, INPUT__FILE__NAME RLIKE '^file:/.*/events/c.json$' AS named, BLOCK__OFFSET__INSIDE__FILE FROM events;
CREATE EXTERNAL TABLE columnar (a INT, b INT) STORED AS ORC LOCATION '${home}/columnar';
INSERT INTO columnar VALUES (1, 2);
SELECT b, INPUT__FILE__NAME RLIKE 'file:/.*/columnar/part-[^/]*orc$' AS named FROM columnar;
SELECT BLOCK__OFFSET__INSIDE__FILE FROM columnar;
-- managed tables
CREATE TABLE managed (a INT) PARTITIONED BY (d STRING);
SELECT INPUT__FILE__NAME FROM managed;
INSERT INTO managed VALUES (1, 'x'), (2, 'x'), (3, 'y');
SELECT d, count(DISTINCT INPUT__FILE__NAME) AS files, min(INPUT__FILE__NAME RLIKE concat('^file:/.*/d=', d, '/[^/]*orc$')) AS named
FROM managed GROUP BY d ORDER BY d;
SELECT m.BLOCK__OFFSET__INSIDE__FILE FROM managed m;
DELETE FROM managed WHERE INPUT__FILE__NAME LIKE '%x%';
