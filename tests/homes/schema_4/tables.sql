-- The tables of the home: one of each kind, with rows. ${home} is the home folder.
CREATE DATABASE shop COMMENT 'what is sold';
CREATE DATABASE nothing;

-- files
CREATE EXTERNAL TABLE people (id INT COMMENT 'unique', name STRING, born DATE, height DOUBLE)
ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' STORED AS TEXTFILE LOCATION '${home}/data/people';
CREATE EXTERNAL TABLE events (`__time` TIMESTAMP, k STRING, n BIGINT, tags ARRAY<STRING>)
ROW FORMAT SERDE 'org.apache.hive.hcatalog.data.JsonSerDe' STORED AS TEXTFILE LOCATION '${home}/data/events';
CREATE EXTERNAL TABLE points (x INT, y DECIMAL(10,2), at TIMESTAMP) STORED AS ORC LOCATION '${home}/data/points';

-- data sources
CREATE EXTERNAL TABLE days (`__time` TIMESTAMP, k STRING, n BIGINT) STORED BY 'druid'
TBLPROPERTIES ('druid.segment.granularity' = 'DAY', 'druid.rollup' = 'false');
INSERT INTO days SELECT `__time`, k, n FROM events;
INSERT INTO days VALUES ('2024-02-01 00:00:00', 'late', 7), ('2024-02-02 12:30:00.5', NULL, NULL);
CREATE EXTERNAL TABLE shop.sums (`__time` TIMESTAMP, k STRING, n BIGINT, low INT, seen BIGINT, price DOUBLE)
STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler'
TBLPROPERTIES ('druid.query.granularity' = 'DAY', 'druid.columns.aggregators' = 'low:min, seen:count');
INSERT OVERWRITE TABLE shop.sums SELECT `__time`, k, n, 3, 1, n * 1.25 FROM events;
CREATE EXTERNAL TABLE shop.copied STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false') AS SELECT `__time`, k, n FROM days WHERE n > 1;
CREATE EXTERNAL TABLE mapped STORED BY 'druid' TBLPROPERTIES ('druid.datasource' = 'default.days');
CREATE EXTERNAL TABLE shop.renamed_source (`__time` TIMESTAMP, k STRING) STORED BY 'druid';
INSERT INTO shop.renamed_source VALUES ('2024-01-01', 'before');
ALTER TABLE shop.renamed_source RENAME TO shop.renamed;
ALTER TABLE shop.renamed ADD COLUMNS (more INT COMMENT 'added later');
INSERT INTO shop.renamed VALUES ('2024-01-02', 'after', 4);

-- managed tables
CREATE TABLE trips (id INT, driver VARCHAR(10), fare DECIMAL(10,2), started TIMESTAMP);
INSERT INTO trips VALUES (1, 'ann', 12.5, '2024-01-01 10:00:00.000001'), (2, 'bob', NULL, NULL);
INSERT INTO trips VALUES (3, 'ann', 7.25, '2024-03-01 00:00:00');
ALTER TABLE trips ADD COLUMNS (tip DOUBLE);
INSERT INTO trips VALUES (4, 'cat', 1, '2024-03-02 00:00:00', 0.5);
CREATE TABLE shop.orders AS SELECT driver, sum(fare) AS fare FROM trips GROUP BY driver;
INSERT OVERWRITE TABLE shop.orders SELECT driver, fare FROM trips WHERE fare > 5;
CREATE TABLE shop.moved (id INT);
INSERT INTO shop.moved VALUES (1), (2);
ALTER TABLE shop.moved RENAME TO shop.stock;
CREATE TABLE shop.unwritten (id INT, name STRING) COMMENT 'no row yet';
CREATE TABLE shop.emptied (id INT);
INSERT INTO shop.emptied VALUES (1);
TRUNCATE TABLE shop.emptied;

-- views
CREATE VIEW drivers COMMENT 'who drives' AS SELECT driver, count(*) AS trips, sum(fare) AS fare FROM trips GROUP BY driver;
CREATE MATERIALIZED VIEW per_day STORED BY 'druid' AS
SELECT floor_day(`__time`) AS `__time`, k, count(*) AS c, sum(n) AS n FROM days GROUP BY floor_day(`__time`), k;
CREATE MATERIALIZED VIEW fares AS SELECT driver, sum(fare) AS fare, count(*) AS c FROM trips GROUP BY driver;
CREATE MATERIALIZED VIEW shop.old_sums DISABLE REWRITE STORED BY 'druid' AS SELECT `__time`, k, n FROM shop.copied;
INSERT INTO shop.copied VALUES ('2024-05-05', 'later', 50);
CREATE MATERIALIZED VIEW names AS SELECT id, name FROM people;
CREATE MATERIALIZED VIEW shop.unbuilt AS SELECT id FROM people;
CREATE MATERIALIZED VIEW shop.rebuilding STORED BY 'druid' AS SELECT `__time`, k FROM shop.renamed;
INSERT INTO shop.renamed VALUES ('2024-01-03', 'last', 5);

-- statistics
ANALYZE TABLE days COMPUTE STATISTICS FOR COLUMNS;
ANALYZE TABLE people COMPUTE STATISTICS FOR COLUMNS;
ANALYZE TABLE trips COMPUTE STATISTICS;

-- tables whose writes are interrupted
CREATE EXTERNAL TABLE shop.planned (`__time` TIMESTAMP, n BIGINT) STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false');
CREATE EXTERNAL TABLE shop.staged (`__time` TIMESTAMP, n BIGINT) STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false');
CREATE EXTERNAL TABLE shop.given_up (`__time` TIMESTAMP, n BIGINT) STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false');
CREATE EXTERNAL TABLE shop.first (`__time` TIMESTAMP, n BIGINT) STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false');
CREATE EXTERNAL TABLE shop.second (`__time` TIMESTAMP, n BIGINT) STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false');
INSERT INTO shop.staged VALUES ('2024-01-01', -1);
INSERT INTO shop.given_up VALUES ('2024-01-01', -1);
INSERT INTO shop.second VALUES ('2024-01-01', -1);
