-- A landing zone of delivered files: which file brought which rows, which lines are bad, and where they are.
CREATE EXTERNAL TABLE landing (day STRING, region STRING, seconds STRING, price STRING)
PARTITIONED BY (batch STRING)
ROW FORMAT DELIMITED FIELDS TERMINATED BY '|' STORED AS TEXTFILE LOCATION '${home}/landing';
LOAD DATA LOCAL INPATH '${dir}/data/calls.psv' INTO TABLE landing PARTITION (batch = 'morning');
LOAD DATA LOCAL INPATH '${dir}/data/calls.psv' INTO TABLE landing PARTITION (batch = 'evening');
LOAD DATA LOCAL INPATH '${dir}/data/measures.txt' INTO TABLE landing PARTITION (batch = 'evening');
SHOW PARTITIONS landing;
-- rows by file
SELECT regexp_extract(INPUT__FILE__NAME, '([^/]+)/([^/]+)$', 1) AS folder, regexp_extract(INPUT__FILE__NAME, '[^/]+$', 0) AS file,
  count(*) AS n, min(BLOCK__OFFSET__INSIDE__FILE) AS first_line, max(BLOCK__OFFSET__INSIDE__FILE) AS last_line
FROM landing GROUP BY INPUT__FILE__NAME ORDER BY folder, file;
-- lines that do not convert go to a table of their own, with where they are
CREATE TABLE rejected (batch STRING, file STRING, at BIGINT, line STRING);
INSERT INTO TABLE rejected
SELECT batch, regexp_replace(INPUT__FILE__NAME, '^.*/', ''), BLOCK__OFFSET__INSIDE__FILE, concat_ws('|', day, region, seconds, price)
FROM landing
WHERE CAST(seconds AS INT) IS NULL OR CAST(day AS DATE) IS NULL;
SELECT * FROM rejected ORDER BY batch, file, at;
-- only the good rows of files with the expected name are kept
CREATE TABLE calls AS
SELECT DISTINCT CAST(day AS DATE) AS day, region, CAST(seconds AS INT) AS seconds, CAST(price AS DECIMAL(6, 2)) AS price
FROM landing l
WHERE l.INPUT__FILE__NAME RLIKE '/calls[^/]*[.]psv$' AND CAST(seconds AS INT) IS NOT NULL;
SELECT day, region, seconds, price FROM calls ORDER BY day, region, seconds;
-- an audit view, joined with what was rejected
CREATE VIEW delivered AS
SELECT batch, regexp_replace(INPUT__FILE__NAME, '^.*/', '') AS file, count(*) AS n FROM landing GROUP BY batch, INPUT__FILE__NAME;
SELECT d.batch, d.file, d.n, count(r.line) AS bad, round(100 * count(r.line) / d.n, 1) AS pct
FROM delivered d LEFT JOIN rejected r ON d.batch = r.batch AND d.file = r.file
GROUP BY d.batch, d.file, d.n ORDER BY d.batch, d.file;
-- the batch is finished: its files leave the landing zone
ALTER TABLE landing DROP IF EXISTS PARTITION (batch = 'morning');
SELECT count(DISTINCT INPUT__FILE__NAME) AS files FROM landing;
