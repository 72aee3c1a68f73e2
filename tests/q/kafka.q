-- a Druid table that ingests from Kafka: its properties define the supervisor's spec, which EXPLAIN shows
EXPLAIN CREATE EXTERNAL TABLE edits (
  `__time` TIMESTAMP, page STRING, isnew BOOLEAN, tags STRING, `year` INT, added INT, largest DOUBLE, edits BIGINT, users STRING, city STRING)
STORED BY 'druid'
TBLPROPERTIES (
  'druid.datasource' = 'edits',
  'kafka.topic' = 'wiki-edits', 'kafka.bootstrap.servers' = 'localhost:9092',
  'druid.timestamp.column' = 'time', 'druid.timestamp.format' = 'iso',
  'druid.segment.granularity' = 'HOUR', 'druid.query.granularity' = 'minute', 'druid.rollup' = 'true',
  'druid.columns.mapping' = 'isNew:isnew',
  'druid.columns.dimensions' = 'year',
  'druid.columns.multivalue' = 'tags:SORTED_SET',
  'druid.columns.aggregators' = 'largest:max(delta), edits:count, users:HLLSketchBuild(user)',
  'druid.parseSpec.flattenSpec' = '{"fields": [{"type": "path", "name": "city", "expr": "$.geo.city"}]}',
  'druid.transformSpec' = '{"filter": {"type": "not", "field": {"type": "selector", "dimension": "page", "value": "Sandbox"}}}',
  'druid.kafka.ingestion.taskCount' = '2', 'druid.kafka.ingestion.taskDuration' = 'PT10M',
  'druid.kafka.ingestion.useEarliestOffset' = 'true', 'druid.kafka.ingestion.skipOffsetGaps' = 'true',
  'druid.kafka.ingestion.indexSpec' = '{"longEncoding": "auto"}',
  'druid.kafka.ingestion.consumer.security.protocol' = 'SASL_SSL',
  'druid.kafka.ingestion.consumer.sasl.jaas.config' = '${env:KAFKA_JAAS}',
  'druid.kafka.ingestion.consumer.ssl.truststore.password' = 'env:KAFKA_TRUST');

CREATE EXTERNAL TABLE lines (`__time` TIMESTAMP, page STRING, n INT) STORED BY 'druid'
TBLPROPERTIES (
  'kafka.topic' = 'lines', 'kafka.bootstrap.servers' = 'localhost:9092', 'druid.parseSpec.format' = 'delimited',
  'druid.parseSpec.columns' = '__time,Page,n', 'druid.parseSpec.delimiter' = '|', 'druid.parseSpec.listDelimiter' = ';',
  'druid.parseSpec.hasHeaderRows' = 'true', 'druid.kafka.ingestion.consumer.ssl.key.password' = 'env:KAFKA_KEY');
SHOW CREATE TABLE lines;
EXPLAIN ALTER TABLE lines SET TBLPROPERTIES ('druid.kafka.ingestion.taskCount' = '3');
SET hive.druid.indexer.segments.granularity=MONTH;
EXPLAIN ALTER TABLE lines SET TBLPROPERTIES ('druid.kafka.ingestion.replicas' = '2');

-- what Druid would fail at later is refused at once
ALTER TABLE lines SET TBLPROPERTIES ('druid.kafka.ingestion.taskDuration' = 'PT30S');
ALTER TABLE lines SET TBLPROPERTIES ('druid.kafka.ingestion.taskCounts' = '3');
ALTER TABLE lines SET TBLPROPERTIES ('druid.kafka.ingestion.topic' = 'x');
ALTER TABLE lines SET TBLPROPERTIES ('druid.parseSpec.listDelimiter' = '|');
ALTER TABLE lines SET TBLPROPERTIES ('druid.columns.aggregators' = 'm:max(n)');
ALTER TABLE lines SET TBLPROPERTIES ('druid.columns.aggregators' = 'page:max(n)');
ALTER TABLE lines SET TBLPROPERTIES ('druid.kafka.ingestion.consumer.sasl.jaas.config' = 'com.sun.security.auth.module.JndiLoginModule required;');
ALTER TABLE lines SET TBLPROPERTIES ('druid.kafka.ingestion.inputFormat' = '{"type": "kafka", "valueFormat": {"password": "secret"}}');
ALTER TABLE lines SET TBLPROPERTIES ('avro.schema.literal' = '{"type": "string"}', 'druid.parseSpec.format' = 'avro');
DROP TABLE lines;
