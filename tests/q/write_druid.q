-- Appending to Druid tables and replacing their rows: all of them, or those of the intervals that the new ones are in.
CREATE TABLE days (`__time` TIMESTAMP, k STRING, n INT) STORED BY 'druid'
TBLPROPERTIES ('druid.segment.granularity' = 'DAY', 'druid.rollup' = 'false', 'druid.segment.targetRowsPerSegment' = '2');
INSERT INTO days VALUES ('2024-01-01 01:00:00', 'a', 1), ('2024-01-01 02:00:00', 'b', 2), ('2024-01-01 03:00:00', 'c', 3), ('2024-01-02 00:00:00', 'd', 4), ('2024-01-03 00:00:00', 'e', 5);
SET hivedruid.overwrite.mode=dynamic;
INSERT OVERWRITE TABLE days VALUES ('2024-01-01 23:59:59.999', 'new', 10), ('2024-01-05 00:00:00', 'new', 50);
SELECT * FROM days ORDER BY `__time`, k;
INSERT OVERWRITE TABLE days SELECT * FROM days WHERE n > 100;
SELECT count(*) FROM days;
EXPLAIN INSERT OVERWRITE TABLE days VALUES ('2024-01-01 00:00:00', 'x', 1);
SET hivedruid.overwrite.mode=static;
INSERT OVERWRITE TABLE days SELECT `__time`, upper(k), n * 10 FROM days WHERE n >= 5;
SELECT * FROM days ORDER BY `__time`, k;

-- segments by a hash of the rows where they are replaced, by their number where they are added
CREATE TABLE shards (`__time` TIMESTAMP, k INT) STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false', 'druid.segment.targetShardsPerGranularity' = '3');
INSERT OVERWRITE TABLE shards SELECT '2024-01-01', a * 10 + b FROM (SELECT split('0,1,2,3,4,5,6,7,8,9', ',') AS d) v LATERAL VIEW explode(d) p AS a LATERAL VIEW explode(d) q AS b;
INSERT INTO shards SELECT '2024-01-01', 100 + n FROM days;
SELECT count(*), count(DISTINCT k), sum(k) FROM shards;

-- columns that are not sums of what is inserted
CREATE TABLE figures (`__time` TIMESTAMP, k STRING, n BIGINT, low INT, high DOUBLE, seen BIGINT, yr INT) STORED BY 'druid'
TBLPROPERTIES ('druid.query.granularity' = 'DAY', 'druid.columns.aggregators' = 'low:min, high:max, seen:count', 'druid.columns.dimensions' = 'yr');
INSERT INTO figures VALUES ('2024-01-01 01:00:00', 'a', 1, 5, 0.5, 99, 7), ('2024-01-01 02:00:00', 'a', 2, 3, 2.5, 99, 7), ('2024-01-01 03:00:00', 'a', 4, 8, 1.5, 99, 8), ('2024-01-01 04:00:00', 'b', NULL, NULL, NULL, NULL, NULL);
SELECT * FROM figures ORDER BY k, yr;

-- one read, two targets
FROM figures
INSERT INTO TABLE days SELECT `__time`, k, low WHERE low IS NOT NULL
INSERT OVERWRITE TABLE shards SELECT `__time`, high;
SELECT * FROM days ORDER BY `__time`, k, n;
SELECT k FROM shards ORDER BY k;

-- the targets read what there was before any of them was written
FROM days
INSERT OVERWRITE TABLE days SELECT `__time`, k, n WHERE k = 'NEW'
INSERT INTO TABLE shards SELECT `__time`, n WHERE k = 'E';
SELECT * FROM days ORDER BY `__time`, k, n;
SELECT k FROM shards ORDER BY k;

-- changes of a table, and what they leave as it is
ALTER TABLE days SET TBLPROPERTIES ('druid.segment.granularity' = 'MONTH', 'druid.rollup' = 'true');
ALTER TABLE days ADD COLUMNS (more STRING);
ALTER TABLE days RENAME TO months;
INSERT INTO months VALUES ('2024-02-01', 'm', 1, 'x');
SELECT * FROM months ORDER BY `__time`, k, n;
TRUNCATE TABLE months;
SELECT count(*) FROM months;
EXPLAIN DROP TABLE months PURGE;
DROP TABLE months PURGE;
CREATE TABLE days (`__time` TIMESTAMP, k STRING) STORED BY 'druid';
SELECT count(*) FROM days;
