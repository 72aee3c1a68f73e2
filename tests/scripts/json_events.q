-- JSON in a string column, taken apart with json_tuple and get_json_object.
CREATE TABLE lines (line STRING) STORED AS TEXTFILE;
LOAD DATA LOCAL INPATH '${dir}/data/events.json' OVERWRITE INTO TABLE lines;
SELECT count(*) FROM lines;
CREATE VIEW parsed AS
SELECT CAST(j.id AS INT) AS id, get_json_object(l.line, '$.user.name') AS name, j.amount,
       get_json_object(l.line, '$.user.langs[0]') AS first_lang,
       get_json_object(l.line, '$.tags.plan') AS plan
FROM lines l LATERAL VIEW json_tuple(l.line, 'id', 'amount') j AS id, amount;
SELECT * FROM parsed ORDER BY id;
CREATE EXTERNAL TABLE events (
  id INT, `user` STRUCT<name: STRING, langs: ARRAY<STRING>>, tags MAP<STRING, STRING>, amount DOUBLE)
ROW FORMAT SERDE 'org.apache.hive.hcatalog.data.JsonSerDe'
STORED AS TEXTFILE
LOCATION '${home}/events';
LOAD DATA LOCAL INPATH '${dir}/data/events.json' INTO TABLE events;
SELECT id, `user`.name, size(`user`.langs) AS langs, tags['plan'] AS plan, amount FROM events ORDER BY id;
SELECT id, lang FROM events LATERAL VIEW explode(`user`.langs) x AS lang ORDER BY id, lang;
SELECT id, pos, lang FROM events LATERAL VIEW OUTER posexplode(`user`.langs) x AS pos, lang ORDER BY id, pos;
SELECT k, count(*) AS n FROM events LATERAL VIEW explode(tags) t AS k, v GROUP BY k ORDER BY k;
SELECT id FROM events WHERE array_contains(`user`.langs, 'fr') OR tags['region'] = 'us';
