-- Druid tables that ingest from Kafka: the supervisor of a table's properties.
EXPLAIN CREATE EXTERNAL TABLE pings (`__time` TIMESTAMP, bike STRING, battery INT, speed DOUBLE) STORED BY 'druid'
TBLPROPERTIES ('kafka.topic' = 'pings', 'kafka.bootstrap.servers' = 'localhost:9092');
CREATE EXTERNAL TABLE pings (`__time` TIMESTAMP, bike STRING, battery INT, speed DOUBLE) STORED BY 'druid'
TBLPROPERTIES ('kafka.topic' = 'pings', 'kafka.bootstrap.servers' = 'localhost:9092');
EXPLAIN ALTER TABLE pings SET TBLPROPERTIES ('druid.kafka.ingestion.taskCount' = '3', 'druid.kafka.ingestion.replicas' = '2',
  'druid.kafka.ingestion.taskDuration' = 'PT2H', 'druid.kafka.ingestion.startDelay' = 'PT1S', 'druid.kafka.ingestion.period' = 'PT20S',
  'druid.kafka.ingestion.useEarliestOffset' = 'true', 'druid.kafka.ingestion.completionTimeout' = 'PT10M');
EXPLAIN ALTER TABLE pings SET TBLPROPERTIES ('druid.kafka.ingestion.lateMessageRejectionPeriod' = 'P1D',
  'druid.kafka.ingestion.earlyMessageRejectionPeriod' = 'PT1H', 'druid.kafka.ingestion.maxRowsInMemory' = '2000',
  'druid.kafka.ingestion.maxBytesInMemory' = '-1', 'druid.kafka.ingestion.maxRowsPerSegment' = '100000', 'druid.kafka.ingestion.maxTotalRows' = '300000');
EXPLAIN ALTER TABLE pings SET TBLPROPERTIES ('druid.kafka.ingestion.intermediatePersistPeriod' = 'PT5M', 'druid.kafka.ingestion.maxPendingPersists' = '1',
  'druid.kafka.ingestion.reportParseExceptions' = 'true', 'druid.kafka.ingestion.handoffConditionTimeout' = '60000', 'druid.kafka.ingestion.resetOffsetAutomatically' = 'true');
EXPLAIN ALTER TABLE pings SET TBLPROPERTIES ('druid.kafka.ingestion.workerThreads' = '2', 'druid.kafka.ingestion.chatRetries' = '3', 'druid.kafka.ingestion.httpTimeout' = 'PT30S',
  'druid.kafka.ingestion.shutdownTimeout' = 'PT60S', 'druid.kafka.ingestion.offsetFetchPeriod' = 'PT15S', 'druid.kafka.ingestion.intermediateHandoffPeriod' = 'P1D',
  'druid.kafka.ingestion.logParseExceptions' = 'false', 'druid.kafka.ingestion.maxParseExceptions' = '7', 'druid.kafka.ingestion.maxSavedParseExceptions' = '2');
EXPLAIN ALTER TABLE pings SET TBLPROPERTIES ('druid.kafka.ingestion.consumer.fetch.min.bytes' = '64', 'druid.kafka.ingestion.consumer.client.id' = 'town');
EXPLAIN ALTER TABLE pings SET TBLPROPERTIES ('druid.segment.granularity' = 'WEEK', 'druid.query.granularity' = 'five_minute', 'druid.rollup' = 'false');
EXPLAIN ALTER TABLE pings SET TBLPROPERTIES ('druid.timestamp.column' = 'at', 'druid.timestamp.format' = 'posix', 'druid.datasource' = 'bike pings');
EXPLAIN ALTER TABLE pings SET TBLPROPERTIES ('druid.columns.mapping' = 'bikeId:bike', 'druid.columns.dimensions' = 'battery', 'druid.columns.multivalue' = 'bike:SORTED_ARRAY');
EXPLAIN ALTER TABLE pings SET TBLPROPERTIES ('druid.metricsSpec' = '[{"type": "doubleMax", "name": "speed", "fieldName": "kmh"}]');
EXPLAIN ALTER TABLE pings SET TBLPROPERTIES ('druid.kafka.ingestion.skipOffsetGaps' = 'true');
EXPLAIN ALTER TABLE pings ADD COLUMNS (locked BOOLEAN, tags ARRAY<STRING>);
EXPLAIN ALTER TABLE pings UNSET TBLPROPERTIES ('kafka.topic');
EXPLAIN CREATE EXTERNAL TABLE scans (`__time` TIMESTAMP WITH LOCAL TIME ZONE, lock STRING, n BIGINT, flag BOOLEAN) STORED BY 'druid'
TBLPROPERTIES ('kafka.topic' = 'scans', 'kafka.bootstrap.servers' = 'k1:9092,k2:9092', 'druid.parseSpec.format' = 'csv', 'druid.parseSpec.columns' = '__time, lock , n,flag');
EXPLAIN CREATE EXTERNAL TABLE scans (`__time` TIMESTAMP, lock STRING, n BIGINT) STORED BY 'druid'
TBLPROPERTIES ('kafka.topic' = 'scans', 'kafka.bootstrap.servers' = 'k1:9092', 'druid.parseSpec.format' = 'CSV', 'druid.parseSpec.hasHeaderRows' = 'true', 'druid.parseSpec.listDelimiter' = '|');
EXPLAIN CREATE EXTERNAL TABLE scans (`__time` TIMESTAMP, lock STRING, n BIGINT) STORED BY 'druid'
TBLPROPERTIES ('kafka.topic' = 'scans', 'kafka.bootstrap.servers' = 'k1:9092', 'druid.parseSpec.format' = 'delimited', 'druid.parseSpec.columns' = '__time,lock,n',
  'druid.parseSpec.delimiter' = '~', 'druid.parseSpec.skipHeaderRows' = '2', 'druid.parseSpec.hasHeaderRows' = 'true');
EXPLAIN CREATE EXTERNAL TABLE scans (`__time` TIMESTAMP, lock STRING, n BIGINT) STORED BY 'druid'
TBLPROPERTIES ('kafka.topic' = 'scans', 'kafka.bootstrap.servers' = 'k1:9092', 'druid.parseSpec.format' = 'tsv', 'druid.parseSpec.columns' = '__time,lock,n');
EXPLAIN CREATE EXTERNAL TABLE rows_of_avro (`__time` TIMESTAMP, lock STRING) STORED BY 'druid'
TBLPROPERTIES ('kafka.topic' = 'scans', 'kafka.bootstrap.servers' = 'k1:9092', 'druid.parseSpec.format' = 'avro',
  'avro.schema.literal' = '{"type": "record", "name": "scan", "fields": [{"name": "__time", "type": "long"}, {"name": "lock", "type": "string"}]}');
EXPLAIN CREATE EXTERNAL TABLE sums (`__time` TIMESTAMP, town STRING, n BIGINT, low INT, who STRING) STORED BY 'druid'
TBLPROPERTIES ('kafka.topic' = 'sums', 'kafka.bootstrap.servers' = 'k1:9092', 'druid.columns.aggregators' = 'n:count, low:min(Low), who:thetaSketch(rider)');
SET hive.druid.bitmap.type=concise;
SET hive.druid.rollup=false;
SET hive.druid.indexer.segments.granularity=YEAR;
EXPLAIN CREATE EXTERNAL TABLE settled (`__time` TIMESTAMP, a STRING, n FLOAT) STORED BY 'druid' TBLPROPERTIES ('kafka.topic' = 't', 'kafka.bootstrap.servers' = 'k:1');
EXPLAIN CREATE EXTERNAL TABLE topic (bike STRING, at BIGINT) STORED BY 'kafka' TBLPROPERTIES ('kafka.topic' = 'pings', 'kafka.bootstrap.servers' = 'k:1', 'kafka.write.semantic' = 'EXACTLY_ONCE');
START INGESTION pings;
ALTER TABLE pings SET TBLPROPERTIES ('druid.kafka.ingestion' = 'STOP');
