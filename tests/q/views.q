-- SORT_QUERY_RESULTS
CREATE EXTERNAL TABLE src (timecolumn timestamp, dimension1 string, dimension2 string, metric1 int, metric2 float)
STORED AS JSONFILE LOCATION '${dir}/data/src';
CREATE EXTERNAL TABLE ev STORED BY 'druid' AS SELECT timecolumn AS `__time`, dimension1, metric1 FROM src;
CREATE VIEW sums AS SELECT dimension1, sum(metric1) AS s FROM ev GROUP BY dimension1;
DESCRIBE sums;
SELECT * FROM sums;
EXPLAIN SELECT s FROM sums WHERE dimension1 = 'a';
SELECT s FROM sums WHERE dimension1 = 'a';
CREATE VIEW v2 (k, total) AS SELECT dimension1, s FROM sums WHERE s > 2;
SELECT k, total FROM v2;
CREATE OR REPLACE VIEW v2 AS SELECT 1 AS one;
SELECT * FROM v2;
SHOW VIEWS;
SHOW CREATE TABLE sums;
CREATE VIEW bad AS SELECT nothing FROM ev;
DROP TABLE sums;
DROP VIEW sums;
DROP VIEW IF EXISTS sums;
SELECT * FROM v2;
