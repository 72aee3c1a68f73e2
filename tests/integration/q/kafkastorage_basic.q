-- A table over the records of Hive's first Kafka test.
CREATE EXTERNAL TABLE kafka_basic (key string, id int)
STORED BY 'org.apache.hadoop.hive.kafka.KafkaStorageHandler'
TBLPROPERTIES ('kafka.topic' = '${basic}', 'kafka.bootstrap.servers' = '${kafka}');
DESCRIBE kafka_basic;
SELECT key, id, `__partition`, `__offset`, `__timestamp` FROM kafka_basic ORDER BY `__offset`;
SELECT count(*), count(id), max(`__offset`) FROM kafka_basic;
SELECT key FROM kafka_basic WHERE `__offset` > 1 AND `__offset` <= 3 ORDER BY key;
SELECT key FROM kafka_basic WHERE `__timestamp` >= 1700000002000 AND `__partition` = 0 ORDER BY key;
SELECT key FROM kafka_basic WHERE `__offset` > 10;
SHOW OFFSETS kafka_basic;
EXPLAIN SELECT key FROM kafka_basic WHERE `__offset` >= 2;
