-- Files are loaded into partitions of a managed text table and then moved on to columnar storage.
CREATE TABLE calls_text (day STRING, region STRING, seconds INT, price DOUBLE) PARTITIONED BY (batch STRING)
ROW FORMAT DELIMITED FIELDS TERMINATED BY '|' STORED AS TEXTFILE;
LOAD DATA LOCAL INPATH '${dir}/data/calls.psv' INTO TABLE calls_text PARTITION (batch = 'one');
LOAD DATA LOCAL INPATH '${dir}/data/calls.psv' OVERWRITE INTO TABLE calls_text PARTITION (batch = 'two');
LOAD DATA LOCAL INPATH '${dir}/data/calls.psv' OVERWRITE INTO TABLE calls_text PARTITION (batch = 'two');
SELECT batch, count(*) AS n, sum(seconds) AS s FROM calls_text GROUP BY batch ORDER BY batch;
CREATE TABLE calls_orc LIKE calls_text;
ALTER TABLE calls_orc SET FILEFORMAT ORC;
INSERT OVERWRITE TABLE calls_orc PARTITION (batch) SELECT day, upper(region), seconds, price, batch FROM calls_text WHERE batch = 'two';
SELECT region, count(*) AS n FROM calls_orc GROUP BY region ORDER BY region;
SHOW PARTITIONS calls_orc;
