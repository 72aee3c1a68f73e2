-- JSON logs as text and by the SerDe; nested values become columns and rows.
CREATE TABLE logs (raw STRING);
INSERT INTO logs VALUES ('{"ts":"2024-01-01T10:00:00Z","user":{"id":7,"tags":["a","b"]},"items":[{"sku":"x","n":2},{"sku":"y","n":1}],"ok":true}'),
 ('{"ts":"2024-01-01T11:30:00Z","user":{"id":8,"tags":[]},"items":[],"ok":false,"err":"time \\"out\\""}'), ('not json'), (NULL), ('{"ts":null,"user":null}');
SELECT get_json_object(raw, '$.user.id') AS id, get_json_object(raw, '$.items[0].sku') AS sku, get_json_object(raw, '$.items[*].n') AS ns, get_json_object(raw, '$.err') AS err, get_json_object(raw, '$.user') AS u FROM logs ORDER BY id, u;
SELECT j.ts, j.ok, from_unixtime(unix_timestamp(regexp_replace(j.ts, '[TZ]', ' '), 'yyyy-MM-dd HH:mm:ss '), 'dd.MM.yyyy HH') FROM logs LATERAL VIEW json_tuple(raw, 'ts', 'ok') j AS ts, ok ORDER BY j.ts;
CREATE EXTERNAL TABLE events (ts STRING, `user` STRUCT<id: INT, tags: ARRAY<STRING>>, items ARRAY<STRUCT<sku: STRING, n: INT>>, ok BOOLEAN, extra MAP<STRING, STRING>)
ROW FORMAT SERDE 'org.apache.hive.hcatalog.data.JsonSerDe' STORED AS TEXTFILE LOCATION '${home}/events';
INSERT INTO events SELECT '2024-01-01', named_struct('id', 7, 'tags', array('a', 'b')), array(named_struct('sku', 'x', 'n', 2)), true, map('k', 'v', 'l', NULL);
INSERT INTO events (ok) SELECT false;
SELECT * FROM events ORDER BY ts;
SELECT e.`user`.id AS id, t.pos, t.tag FROM events e LATERAL VIEW OUTER posexplode(e.`user`.tags) t AS pos, tag ORDER BY id, pos;
SELECT e.ts, i.sku, i.n, size(e.items), e.extra['k'] FROM events e LATERAL VIEW OUTER inline(e.items) i ORDER BY e.ts;
SELECT k, count(*) FROM events LATERAL VIEW explode(map_keys(extra)) x AS k GROUP BY k ORDER BY k;
SELECT sort_array(collect_set(t.tag)), array_contains(collect_list(t.tag), 'b') FROM events e LATERAL VIEW explode(e.`user`.tags) t AS tag;
