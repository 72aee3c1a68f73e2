-- Results leave the warehouse as files: CSV, JSON and ORC folders, and are read back.
CREATE TABLE src (id INT, name STRING, tags ARRAY<STRING>);
INSERT INTO src SELECT 1, 'a,b', array('x', 'y') UNION ALL SELECT 2, NULL, array('z');
INSERT OVERWRITE LOCAL DIRECTORY '${home}/csv' ROW FORMAT DELIMITED FIELDS TERMINATED BY '|' NULL DEFINED AS '' SELECT id, name FROM src;
INSERT OVERWRITE DIRECTORY '${home}/orc' STORED AS ORC SELECT id, tags FROM src;
FROM src INSERT OVERWRITE DIRECTORY '${home}/one' SELECT id WHERE id = 1 INSERT OVERWRITE DIRECTORY '${home}/two' SELECT name WHERE id = 2;
CREATE EXTERNAL TABLE csv (line STRING) LOCATION '${home}/csv';
SELECT line FROM csv ORDER BY line;
CREATE EXTERNAL TABLE orc_back (`_col0` INT, `_col1` ARRAY<STRING>) STORED AS ORC LOCATION '${home}/orc';
SELECT * FROM orc_back ORDER BY `_col0`;
CREATE EXTERNAL TABLE two (x STRING) LOCATION '${home}/two';
SELECT x, x IS NULL AS is_null FROM two;
