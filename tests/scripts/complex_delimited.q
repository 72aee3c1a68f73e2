-- Arrays and maps in delimited text files.
CREATE TABLE people (id INT, name STRING, colours ARRAY<STRING>, phones MAP<STRING, STRING>)
ROW FORMAT DELIMITED
  FIELDS TERMINATED BY ','
  COLLECTION ITEMS TERMINATED BY ':'
  MAP KEYS TERMINATED BY '='
STORED AS TEXTFILE;
CREATE EXTERNAL TABLE people_ext (id INT, name STRING, colours ARRAY<STRING>, phones STRING)
ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' COLLECTION ITEMS TERMINATED BY ':'
LOCATION '${home}/people_ext';
LOAD DATA LOCAL INPATH '${dir}/data/people.txt' INTO TABLE people_ext;
SELECT id, name, colours, colours[1] AS second_colour, phones FROM people_ext ORDER BY id;
INSERT INTO TABLE people SELECT id, name, colours, str_to_map(phones, ';', '=') FROM people_ext;
SELECT id, phones['work'] AS work, size(phones) AS n, map_keys(phones) AS kinds FROM people WHERE id = 1;
SELECT name, colour FROM people LATERAL VIEW explode(colours) c AS colour ORDER BY name, colour;
SELECT name, kind, number FROM people LATERAL VIEW explode(phones) p AS kind, number ORDER BY name, kind;
INSERT OVERWRITE DIRECTORY '${home}/out' ROW FORMAT DELIMITED FIELDS TERMINATED BY '\t' COLLECTION ITEMS TERMINATED BY '|'
SELECT name, colours FROM people;
CREATE EXTERNAL TABLE out_lines (line STRING) ROW FORMAT DELIMITED FIELDS TERMINATED BY '\001' LOCATION '${home}/out';
SELECT line FROM out_lines ORDER BY line;
