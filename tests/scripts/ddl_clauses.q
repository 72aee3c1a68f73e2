-- Table definitions with the clauses of a long-lived warehouse.
CREATE TABLE IF NOT EXISTS trips (
  id BIGINT COMMENT 'unique',
  `date` DATE,
  fare DECIMAL(8,2) COMMENT 'in euros',
  path ARRAY<STRUCT<lat: DOUBLE, lon: DOUBLE>>,
  extras MAP<STRING, INT>
)
COMMENT 'taxi trips'
PARTITIONED BY (city STRING COMMENT 'where it began', yr SMALLINT)
CLUSTERED BY (id) SORTED BY (id ASC) INTO 8 BUCKETS
SKEWED BY (id) ON (1, 2)
ROW FORMAT SERDE 'org.apache.hadoop.hive.ql.io.orc.OrcSerde'
STORED AS INPUTFORMAT 'org.apache.hadoop.hive.ql.io.orc.OrcInputFormat'
OUTPUTFORMAT 'org.apache.hadoop.hive.ql.io.orc.OrcOutputFormat'
TBLPROPERTIES ('orc.bloom.filter.columns' = 'id', 'creator' = 'etl', 'auto.purge' = 'true');
INSERT INTO trips PARTITION (city = 'rome', yr = 2023)
SELECT 1, DATE '2023-05-01', 12.5, array(named_struct('lat', 41.9D, 'lon', 12.5D)), map('bags', 2);
INSERT INTO trips PARTITION (city, yr)
SELECT 2, DATE '2024-05-01', 8, array(named_struct('lat', 59.9D, 'lon', 10.7D)), map('bags', 0), 'oslo', 2024;
SELECT id, `date`, fare, path[0].lat AS lat, extras['bags'] AS bags, city, yr FROM trips ORDER BY id;
ANALYZE TABLE trips PARTITION (city, yr) COMPUTE STATISTICS;
ANALYZE TABLE trips COMPUTE STATISTICS FOR COLUMNS;
ALTER TABLE trips ADD COLUMNS (tip DECIMAL(6,2) COMMENT 'since 2024');
ALTER TABLE trips SET TBLPROPERTIES ('comment' = 'all taxi trips');
ALTER TABLE trips CHANGE COLUMN fare fare DECIMAL(10,2);
DESCRIBE trips;
SELECT city, max(fare) AS fare, max(tip) AS tip FROM trips GROUP BY city ORDER BY city;
ALTER TABLE trips RENAME TO taxi_trips;
SHOW TABLES LIKE 'taxi%';
SHOW COLUMNS IN taxi_trips;
ALTER TABLE taxi_trips CONCATENATE;
ALTER TABLE taxi_trips TOUCH;
SELECT count(*) FROM taxi_trips TABLESAMPLE (100 PERCENT) s;
DROP TABLE taxi_trips PURGE;
