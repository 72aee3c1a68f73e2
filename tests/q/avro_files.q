-- External tables of Avro files. Hive 4.0.1 returns the same rows from these files.
CREATE EXTERNAL TABLE a (t TINYINT, I INT, s STRING, v VARCHAR(5), d DOUBLE, de DECIMAL(10,2), ts TIMESTAMP, dt DATE, arr ARRAY<INT>, m MAP<STRING,INT>, st STRUCT<x:INT,y:STRING>, bi BINARY) STORED AS AVRO LOCATION '${home}/avro/a';
DESCRIBE a;
INSERT INTO a SELECT 1, 2, 's', 'variable', 1.5, 1.25, timestamp '2024-01-01 10:00:00.123', date '2024-01-02', array(1, 2), map('k', 1), named_struct('x', 1, 'y', 'q'), CAST('ab' AS BINARY);
INSERT INTO a (i) VALUES (7);
SELECT * FROM a ORDER BY i;
CREATE EXTERNAL TABLE defaults STORED AS AVRO LOCATION '${home}/avro/a' TBLPROPERTIES ('avro.schema.literal' = '{"type": "record", "name": "r", "fields": [{"name": "i", "type": ["null", "int"]}, {"name": "extra", "type": "string", "default": "none"}]}');
SELECT * FROM defaults ORDER BY i;
CREATE EXTERNAL TABLE other (i BIGINT, nosuch STRING) ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.avro.AvroSerDe' STORED AS INPUTFORMAT 'org.apache.hadoop.hive.ql.io.avro.AvroContainerInputFormat' OUTPUTFORMAT 'org.apache.hadoop.hive.ql.io.avro.AvroContainerOutputFormat' LOCATION '${home}/avro/a';
SELECT * FROM other ORDER BY i;
CREATE EXTERNAL TABLE p (x INT) PARTITIONED BY (k STRING) STORED AS AVRO LOCATION '${home}/avro/p';
INSERT INTO p PARTITION (k) VALUES (1, 'a'), (2, 'b');
INSERT OVERWRITE TABLE p PARTITION (k = 'a') SELECT 9;
SELECT * FROM p WHERE k = 'a';
CREATE TABLE moved STORED AS AVRO LOCATION '${home}/avro/moved' AS SELECT x FROM p;
SELECT * FROM moved ORDER BY x;
CREATE EXTERNAL TABLE seq (x INT) STORED AS SEQUENCEFILE LOCATION '${home}/avro/seq';
CREATE EXTERNAL TABLE none STORED AS AVRO LOCATION '${home}/avro/none';
DROP TABLE moved;
