-- Formats of older warehouses: declared for managed and temporary tables, whose files hivedruid chooses.
CREATE TABLE events_seq (id INT, kind STRING) ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' STORED AS SEQUENCEFILE;
CREATE TABLE events_rc (id INT, kind STRING) PARTITIONED BY (d STRING) STORED AS RCFILE;
CREATE TABLE events_avro STORED AS AVRO AS SELECT 1 AS id, 'old' AS kind;
INSERT INTO events_seq VALUES (1, 'a'), (2, 'b');
INSERT OVERWRITE TABLE events_rc PARTITION (d = '2012-01-01') SELECT id, upper(kind) FROM events_seq;
SELECT id, kind, d FROM events_rc ORDER BY id;
SELECT * FROM events_avro UNION ALL SELECT * FROM events_seq ORDER BY id, kind;
CREATE TABLE t LIKE events_rc;
SHOW PARTITIONS t;
