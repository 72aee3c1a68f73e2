-- What Hive's tests of its Kafka handler cover: conditions, views, offsets kept in a table, inserts, formats, joins.
CREATE EXTERNAL TABLE rides (city string, `when` timestamp, minutes int, tags array<string>, rider struct<name:string>)
STORED BY 'kafka' TBLPROPERTIES ('kafka.topic' = '${rides}', 'kafka.bootstrap.servers' = '${kafka}');
SELECT city, `when`, minutes, tags[0], rider.name, CAST(`__key` AS string) FROM rides ORDER BY `__partition`, `__offset`;

-- conditions on the metadata columns
SELECT `__partition`, `__offset` FROM rides WHERE `__partition` = 1 AND `__offset` < 1;
SELECT `__partition`, `__offset` FROM rides WHERE `__offset` = 0 OR `__partition` IN (0, 7) ORDER BY 1, 2;
SELECT `__offset` FROM rides WHERE `__timestamp` BETWEEN 1700000001000 AND 1700000002000 ORDER BY `__offset`;
SELECT count(*) FROM rides WHERE `__timestamp` > 1000 * unix_timestamp(CURRENT_TIMESTAMP - INTERVAL '10' MINUTES);
SELECT city, sum(minutes) FROM rides WHERE `__offset` >= 0 GROUP BY city ORDER BY city;

-- a view with the records from an offset on, and the offsets that were loaded
CREATE VIEW later AS SELECT city, minutes FROM rides WHERE `__offset` > 0;
SELECT * FROM later ORDER BY city;
CREATE TABLE loaded (p int, o bigint);
CREATE TABLE stored (city string, minutes int);
FROM rides
INSERT INTO TABLE stored SELECT city, minutes
INSERT INTO TABLE loaded SELECT `__partition`, max(`__offset`) + 1 GROUP BY `__partition`;
SELECT * FROM loaded ORDER BY p;
SELECT count(*), sum(minutes) FROM stored;

-- INSERT INTO
INSERT INTO rides (city, minutes, `__key`, `__partition`, `__timestamp`)
VALUES ('Oslo', 7, CAST('k' AS binary), 1, 1700000009000);
SELECT r.city, r.minutes, CAST(r.`__key` AS string), r.`__partition`, r.`__timestamp`
FROM rides r JOIN loaded l ON r.`__partition` = l.p WHERE r.`__offset` >= l.o;
INSERT OVERWRITE TABLE rides (city) VALUES ('x');

-- the same topic in other formats
CREATE EXTERNAL TABLE raw_rides (line string) STORED BY 'kafka'
TBLPROPERTIES ('kafka.topic' = '${rides}', 'kafka.bootstrap.servers' = '${kafka}', 'kafka.serde.class' = 'text');
SELECT line FROM raw_rides WHERE `__partition` = 1 ORDER BY `__offset`;
CREATE EXTERNAL TABLE csv_rides (city string, minutes int) STORED BY 'kafka'
TBLPROPERTIES ('kafka.topic' = '${csv}', 'kafka.bootstrap.servers' = '${kafka}',
  'kafka.serde.class' = 'org.apache.hadoop.hive.serde2.OpenCSVSerde');
INSERT INTO csv_rides (city, minutes) VALUES ('Oslo, Norway', 3);
SELECT city, minutes + 1 AS more FROM csv_rides;
CREATE EXTERNAL TABLE avro_rides STORED BY 'kafka'
TBLPROPERTIES ('kafka.topic' = '${avro}', 'kafka.bootstrap.servers' = '${kafka}',
  'kafka.serde.class' = 'org.apache.hadoop.hive.serde2.avro.AvroSerDe',
  'avro.schema.literal' = '{"type": "record", "name": "Ride", "fields": [{"name": "City", "type": "string"}, {"name": "Minutes", "type": ["null", "long"]}]}');
DESCRIBE avro_rides;
INSERT INTO avro_rides (city, minutes) SELECT city, minutes FROM rides WHERE `__partition` = 0;
SELECT a.city, a.minutes, c.city FROM avro_rides a LEFT JOIN csv_rides c ON c.city LIKE concat(a.city, ',%')
ORDER BY a.city, a.minutes;

-- malformed records
CREATE EXTERNAL TABLE wrong (city int) STORED BY 'kafka'
TBLPROPERTIES ('kafka.topic' = '${rides}', 'kafka.bootstrap.servers' = '${kafka}');
ALTER TABLE wrong SET TBLPROPERTIES ('hivedruid.malformed.rows' = 'null');
SELECT count(*), count(city) FROM wrong;
