-- Tab separated master data with missing values, cleaned with string functions.
CREATE EXTERNAL TABLE stations_raw (id STRING, name STRING, geo STRING, state STRING)
ROW FORMAT DELIMITED FIELDS TERMINATED BY '\t' LOCATION '${home}/stations';
LOAD DATA LOCAL INPATH '${dir}/data/stations.tsv' INTO TABLE stations_raw;
CREATE TABLE stations AS
SELECT CAST(id AS INT) AS id, regexp_replace(name, '"', '') AS name,
       CAST(split(geo, ',')[0] AS DOUBLE) AS lat, CAST(split(geo, ',')[1] AS DECIMAL(6,2)) AS lon,
       CASE state WHEN 'open' THEN true WHEN 'closed' THEN false END AS is_open
FROM stations_raw;
SELECT * FROM stations ORDER BY id;
SELECT id, upper(name) AS u, initcap(lower(name)) AS i, length(name) AS n, octet_length(name) AS bytes, reverse(name) AS r,
       translate(name, 'aü', 'ou') AS t, substring_index(name, ' ', 1) AS first_word, instr(name, 'a') AS at FROM stations ORDER BY id;
SELECT concat_ws('/', lpad(CAST(id AS STRING), 3, '0'), rpad(substr(name, 1, 3), 5, '.')) AS code, soundex(name) AS s,
       levenshtein(name, 'Central') AS d, md5(name) = md5('Harbour') AS is_harbour FROM stations ORDER BY code;
SELECT id FROM stations WHERE lat IS NULL OR name RLIKE '^M.*h$' ORDER BY id;
