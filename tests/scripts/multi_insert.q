-- One pass over the events fills three tables: details, totals and rejects.
CREATE TEMPORARY TABLE events AS
SELECT inline(array(
  struct(1, 'view', 'home', 12), struct(2, 'view', 'cart', 3), struct(3, 'buy', 'cart', 40),
  struct(4, 'buy', 'cart', 25), struct(5, 'oops', NULL, NULL), struct(6, 'view', 'home', 8)))
AS (id, kind, page, value);
CREATE EXTERNAL TABLE views (id INT, page STRING) STORED AS ORC LOCATION '${home}/views';
SELECT count(*) FROM views;
CREATE TABLE totals (page STRING, n BIGINT, value BIGINT);
CREATE TABLE rejects (id INT, reason STRING) PARTITIONED BY (kind STRING);
FROM events e
INSERT OVERWRITE TABLE views SELECT e.id, e.page WHERE e.kind = 'view'
INSERT OVERWRITE TABLE totals SELECT e.page, count(*), sum(e.value) WHERE e.kind = 'buy' GROUP BY e.page HAVING count(*) > 1
INSERT INTO TABLE rejects PARTITION (kind) SELECT e.id, 'unknown kind', e.kind WHERE e.kind NOT IN ('view', 'buy');
SELECT * FROM views ORDER BY id;
SELECT * FROM totals;
SELECT * FROM rejects;
FROM (SELECT page, kind, value FROM events WHERE page IS NOT NULL) x
INSERT INTO TABLE totals SELECT page, count(DISTINCT kind), max(value) GROUP BY page
INSERT OVERWRITE LOCAL DIRECTORY '${home}/pages' ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' SELECT DISTINCT page;
SELECT page, n, value FROM totals ORDER BY page, n, value;
CREATE EXTERNAL TABLE pages (page STRING) ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' LOCATION '${home}/pages';
SELECT * FROM pages ORDER BY page;
