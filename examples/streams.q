-- Wikipedia edits from Kafka into a managed table: the life of a stream.
-- hivedruid local up --kafka
-- hivedruid sql --yes --hivevar kafka=$(hivedruid sample wikiticker --topic wiki-edits) -f examples/streams.q

--! qt:replace:/127\.0\.0\.1:\d+/KAFKA/
--! qt:replace:/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?( UTC)?/TIME/
--! qt:replace:/\t\d{15,}$/\tSNAPSHOT/
--! qt:replace:/^(\d+\tTIME(\t\d+){3}\t)\d+/$1BYTES/
--! qt:replace:/\(\d+ bytes\) rewritten as (.*) in [\d.]+ s/(BYTES bytes) rewritten as $1 in SECONDS s/

-- A topic is a table.
CREATE EXTERNAL TABLE wiki_edits (`time` STRING, channel STRING, cityname STRING, page STRING, `user` STRING,
  isrobot BOOLEAN, added BIGINT, deleted BIGINT)
STORED BY 'kafka'
TBLPROPERTIES ('kafka.topic' = 'wiki-edits', 'kafka.bootstrap.servers' = '${hivevar:kafka}');

CREATE STREAM edit_stream FROM wiki_edits INTO edits
WITH PROPERTIES ('trigger' = 'PT1S', 'max.records.per.batch' = '10000')
AS SELECT CAST(replace(replace(`time`, 'T', ' '), 'Z', '') AS TIMESTAMP) AS at, channel, page, `user`, added, deleted
FROM wiki_edits WHERE NOT isrobot;

-- Nothing runs yet. A batch can be run in this session.
SHOW STREAMS;
RUN STREAM edit_stream LIMIT 10000;
SELECT count(*) AS edits, sum(added) AS added FROM edits;

-- What the stream is now can be kept, to go back to it.
CHECKPOINT STREAM edit_stream;
SHOW BATCHES edit_stream;

-- START starts a manager in the background if none is running. WAIT returns when the stream has read what Kafka has now.
START STREAM edit_stream;
WAIT STREAM edit_stream;
SELECT count(*) AS edits, sum(added) AS added, min(at) AS first, max(at) AS last FROM edits;
SELECT channel, count(*) AS edits FROM edits GROUP BY channel ORDER BY edits DESC, channel LIMIT 3;

-- Small files are merged beside the stream.
ALTER TABLE edits COMPACT 'minor' AND WAIT;

PAUSE STREAM edit_stream;
RESUME STREAM edit_stream;

-- Another column, while the stream runs: existing rows have NULL in it.
ALTER TABLE edits ADD COLUMNS (city STRING);
ALTER STREAM edit_stream AS
SELECT CAST(replace(replace(`time`, 'T', ' '), 'Z', '') AS TIMESTAMP) AS at, channel, page, `user`, added, deleted, cityname AS city
FROM wiki_edits WHERE NOT isrobot;
ALTER STREAM edit_stream SET PROPERTIES ('trigger' = 'PT0.5S');
STOP STREAM edit_stream;

-- Back to the checkpoint: rows and offsets go together. The records after it are read again, now with the city.
ROLLBACK STREAM edit_stream TO CHECKPOINT;
SELECT count(*) AS edits, count(city) AS cities FROM edits;
RUN STREAM edit_stream;
SELECT count(*) AS edits, count(city) > 0 AS cities FROM edits;

-- RESET moves the offsets, and keeps the rows: here, all records are read again.
EXPLAIN RESET STREAM edit_stream TO EARLIEST;

DROP STREAM edit_stream WITH TABLE;
DROP TABLE wiki_edits;
