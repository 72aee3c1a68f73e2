-- Text files of several dialects, cleaned and counted.
CREATE EXTERNAL TABLE people_raw (id INT, name STRING, born DATE, score DOUBLE, tags ARRAY<STRING>, props MAP<STRING,INT>)
ROW FORMAT DELIMITED FIELDS TERMINATED BY ';' COLLECTION ITEMS TERMINATED BY ',' MAP KEYS TERMINATED BY ':' NULL DEFINED AS '-' STORED AS TEXTFILE LOCATION '${home}/people_raw';
CREATE EXTERNAL TABLE lines (line STRING) STORED AS TEXTFILE LOCATION '${home}/people_raw';
INSERT INTO lines VALUES ('1;Ann;1990-01-01;1.5;a,b;x:1,y:2'), ('2;;-;abc;-;-'), ('x;Bob;1990-13-01;1e3;,;k:'), ('4'), (''), ('5;Eve;2000-02-29;-0;a;x:1;surplus'), (' 6;Joe ;1999-01-01 ; 2 ;a ,b;x : 1');
SELECT * FROM people_raw ORDER BY id, name;
SELECT count(*), count(id), count(name), count(born), count(score), sum(score) FROM people_raw;
SELECT name, length(name), trim(name), upper(name), soundex(name), levenshtein(name, 'Ann'), instr(name, 'n'), locate('o', name), name LIKE '%o%', name RLIKE '^[A-Z]' FROM people_raw ORDER BY name;
CREATE TABLE people STORED AS ORC AS SELECT id, nullif(trim(name), '') AS name, born, score, tags, props FROM people_raw WHERE id IS NOT NULL;
SELECT p.id, p.name, t.tag FROM people p LATERAL VIEW explode(p.tags) t AS tag ORDER BY p.id, t.tag;
SELECT year(born) AS y, count(*) AS n, concat_ws('/', sort_array(collect_list(name))) FROM people GROUP BY year(born) ORDER BY y;
CREATE EXTERNAL TABLE csv (a STRING, b STRING, c STRING) ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.OpenCSVSerde' WITH SERDEPROPERTIES ('separatorChar' = ',', 'quoteChar' = '"') STORED AS TEXTFILE LOCATION '${home}/csv' TBLPROPERTIES ('skip.header.line.count' = '1');
LOAD DATA LOCAL INPATH '${dir}/data/quoted.csv' INTO TABLE csv;
SELECT a, b, c, length(c) FROM csv ORDER BY a;
SELECT CAST(a AS INT) * 2, concat(b, '|', c) FROM csv WHERE a RLIKE '^[0-9]+$' ORDER BY 1;
SELECT sentences('Hello there. How are you?'), split('a1b22c', '[0-9]+'), regexp_replace('a.b.c', '\\.', '-'), ascii('A'), base64(unbase64('YWI=')), repeat('ab', 2), str_to_map('a=1&b=2', '&', '='), elt(2, 'x', 'y'), field('b', 'a', 'b'), find_in_set('b', 'a,b'), substring_index('a.b.c', '.', 2), ltrim('  a '), concat('a', NULL), nvl(NULL, 'z');
