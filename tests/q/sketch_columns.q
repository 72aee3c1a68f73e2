-- columns of sketches: values are added to them, sketches are merged
CREATE TABLE visits (`__time` TIMESTAMP, page STRING, users BINARY, seen BINARY, latency BINARY) STORED BY 'druid'
TBLPROPERTIES ('druid.columns.aggregators' = 'users:thetaSketch(user_id), seen:HLLSketchBuild, latency:quantilesDoublesSketch(ms)');
DESCRIBE visits;
SHOW CREATE TABLE visits;
INSERT INTO visits VALUES
  ('2024-01-01', 'a', 'x', 1, 2.5), ('2024-01-01', 'a', 'y', 1, 3), ('2024-01-01', 'a', NULL, 2, 1), ('2024-01-02', 'b', NULL, NULL, NULL);
SELECT `__time`, page, length(users), length(seen), length(latency) FROM visits ORDER BY page;
CREATE TABLE copied STORED BY 'druid' AS SELECT `__time`, users, seen AS devices FROM visits;
SHOW CREATE TABLE copied;
INSERT INTO copied SELECT `__time`, users, seen FROM visits;
INSERT INTO visits SELECT `__time`, concat(page, '2'), users, seen, latency FROM visits;
ALTER TABLE copied COMPACT 'major';
SELECT count(*), count(users), count(devices) FROM copied;

-- the sketch columns of a data source are discovered; a column declared as STRING has their base64
CREATE EXTERNAL TABLE discovered STORED BY 'druid' TBLPROPERTIES ('druid.datasource' = 'default.visits');
DESCRIBE discovered;
SHOW CREATE TABLE discovered;
CREATE EXTERNAL TABLE texts (`__time` TIMESTAMP, page STRING, users STRING) STORED BY 'druid'
TBLPROPERTIES ('druid.datasource' = 'default.visits');
SELECT page, base64(d.users) = t.users AS same FROM discovered AS d JOIN texts AS t USING (page) WHERE page < 'b' ORDER BY page;
SELECT count(users), count(DISTINCT users), min(users) < max(users) AS ordered FROM discovered WHERE users IS NOT NULL;
EXPLAIN SELECT count(seen) FROM discovered WHERE users IS NOT NULL;
SELECT users + 1 FROM discovered;
SELECT page FROM discovered WHERE users LIKE 'a%';
SELECT sum(latency) FROM discovered;
ANALYZE TABLE discovered COMPUTE STATISTICS FOR COLUMNS;
CREATE TABLE managed AS SELECT * FROM discovered;
ANALYZE TABLE managed COMPUTE STATISTICS FOR COLUMNS users;
SELECT count(*) FROM managed m JOIN discovered d ON m.users = d.users AND m.page = d.page;
DROP TABLE managed;
DROP TABLE texts;
DROP TABLE discovered;

-- what a column cannot store is refused
CREATE TABLE wrong (`__time` TIMESTAMP, b BINARY) STORED BY 'druid';
CREATE TABLE wrong STORED BY 'druid' AS SELECT `__time`, unhex('00') AS b FROM visits;
INSERT INTO copied SELECT `__time`, seen, seen FROM visits;
INSERT INTO copied VALUES ('2024-01-01', array('x'), 1);
INSERT INTO visits VALUES ('2024-01-01', 'a', 'x', 1, 'fast');
ALTER TABLE copied SET TBLPROPERTIES ('druid.columns.aggregators' = 'users:HLLSketchBuild, devices:HLLSketchBuild');
ALTER TABLE copied ADD COLUMNS (more BINARY);
DROP TABLE visits;
DROP TABLE copied;

-- BINARY columns over text of another program, and sketches that no aggregator stores
CREATE TABLE texts (`__time` TIMESTAMP, n INT, v STRING) STORED BY 'druid' TBLPROPERTIES ('druid.datasource' = 'texts');
INSERT INTO texts VALUES ('2024-01-01', 1, 'QUI='), ('2024-01-01', 2, 'no sketch: password=hunter2'), ('2024-01-01', 3, NULL);
CREATE EXTERNAL TABLE as_bytes (`__time` TIMESTAMP, n INT, v BINARY) STORED BY 'druid' TBLPROPERTIES ('druid.datasource' = 'texts');
SELECT n, v FROM as_bytes WHERE n <> 2 ORDER BY n;
SELECT v FROM as_bytes WHERE v IS NOT NULL;
CREATE TABLE copied STORED BY 'druid' AS SELECT `__time`, max(v) AS most FROM as_bytes WHERE n <> 2 GROUP BY `__time`;
CREATE TABLE copied STORED BY 'druid' TBLPROPERTIES ('druid.columns.as' = 'most:string') AS SELECT `__time`, max(v) AS most FROM as_bytes WHERE n <> 2 GROUP BY `__time`;
SELECT most FROM copied;
