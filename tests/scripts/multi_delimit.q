-- Fields separated by two characters.
CREATE EXTERNAL TABLE measures (station STRING, at TIMESTAMP, value DOUBLE, flags ARRAY<STRING>)
ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.MultiDelimitSerDe'
WITH SERDEPROPERTIES ('field.delim' = '||', 'collection.delim' = ';')
STORED AS TEXTFILE LOCATION '${home}/measures';
LOAD DATA LOCAL INPATH '${dir}/data/measures.txt' INTO TABLE measures;
SELECT * FROM measures ORDER BY at;
SELECT station, count(value) AS n, max(value) AS most, min(at) AS first FROM measures GROUP BY station ORDER BY station;
SELECT station, flag FROM measures LATERAL VIEW explode(flags) f AS flag WHERE flag <> '' ORDER BY station, flag;
