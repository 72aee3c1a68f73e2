-- Examples of the grammar's rules: below `-- rule: name` each statement uses that rule.

-- rule: create_table
CREATE EXTERNAL TABLE druid_table (`__time` TIMESTAMP, page STRING, added INT) STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler';
CREATE TABLE managed (a INT) STORED AS ORC;
CREATE TEMPORARY TABLE brief STORED AS PARQUET AS SELECT a FROM t;
-- rule: if_not_exists
CREATE TABLE IF NOT EXISTS db.t (a INT);
-- rule: column_list
CREATE TABLE t (a INT COMMENT 'first', `b c` STRING);
-- rule: column_def
CREATE TABLE t (a INT, b STRING);
-- rule: column_constraint
CREATE TABLE t (a INT NOT NULL DISABLE NOVALIDATE, b INT);
-- rule: table_constraint
CREATE TABLE t (a INT, PRIMARY KEY (a) DISABLE NOVALIDATE);
CREATE TABLE t (a INT, CHECK (a > 0) DISABLE);
-- rule: key_columns
CREATE TABLE t (a INT, b INT, UNIQUE (a, b) DISABLE NOVALIDATE);
-- rule: noted
CREATE TABLE t (a INT NOT NULL NOT ENFORCED);
CREATE TABLE t (a INT NOT NULL DISABLE NOVALIDATE RELY);
-- rule: comment
CREATE TABLE t (a INT) COMMENT "a table";
-- rule: as_query
CREATE EXTERNAL TABLE d STORED BY druid TBLPROPERTIES ('druid.segment.granularity' = 'DAY') AS SELECT ts AS `__time`, page FROM src;
-- rule: table_clause
CREATE EXTERNAL TABLE t (a INT) COMMENT 'x' STORED AS TEXTFILE LOCATION '/data' TBLPROPERTIES ('skip.header.line.count' = '1');
-- rule: partitioned_by
CREATE TABLE t (a INT) PARTITIONED BY (day DATE);
-- rule: partition_spec
CREATE TABLE t (id BIGINT, ts TIMESTAMP) PARTITIONED BY SPEC (day(ts), bucket(16, id));
-- rule: transform
CREATE TABLE t (a STRING, ts TIMESTAMP) PARTITIONED BY SPEC (truncate(4, a), hour(ts));
-- rule: ordered_by
CREATE TABLE t (a INT, b INT) WRITE LOCALLY ORDERED BY a DESC NULLS LAST, b;
-- rule: clustered_by
CREATE TRANSACTIONAL TABLE t (a INT) CLUSTERED BY (a) SORTED BY (a DESC) INTO 4 BUCKETS;
-- rule: skewed_by
CREATE TABLE t (a INT) SKEWED BY (a) ON (1, 2) STORED AS DIRECTORIES;
-- rule: skewed_value
CREATE TABLE t (a INT, b STRING) SKEWED BY (a, b) ON ((1, 'x'), (2, 'y'));
-- rule: row_format
CREATE EXTERNAL TABLE t (a INT) ROW FORMAT DELIMITED LOCATION '/data';
-- rule: delimited
CREATE EXTERNAL TABLE t (a INT) ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' LOCATION '/data';
-- rule: delimiter
CREATE EXTERNAL TABLE t (a INT) ROW FORMAT DELIMITED FIELDS TERMINATED BY '\t' ESCAPED BY '\\' COLLECTION ITEMS TERMINATED BY '|'
  MAP KEYS TERMINATED BY ':' LINES TERMINATED BY '\n' NULL DEFINED AS '' LOCATION '/data';
-- rule: serde
CREATE EXTERNAL TABLE t (a INT) ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.JsonSerDe' LOCATION '/data';
-- rule: stored_by
CREATE EXTERNAL TABLE t (`__time` TIMESTAMP) STORED BY DRUID;
-- rule: storage_handler
CREATE EXTERNAL TABLE k (a INT) STORED BY kafka TBLPROPERTIES ('kafka.topic' = 'x', 'kafka.bootstrap.servers' = 'localhost:9092');
-- rule: stored_as
CREATE EXTERNAL TABLE t (a INT) STORED AS PARQUET LOCATION '/data';
CREATE TABLE t (a INT) STORED BY ICEBERG STORED AS INPUTFORMAT 'org.apache.hadoop.mapred.TextInputFormat' OUTPUTFORMAT 'org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat';
-- rule: serde_properties
CREATE EXTERNAL TABLE t (a STRING) ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.OpenCSVSerde' WITH SERDEPROPERTIES ('separatorChar' = ';') LOCATION '/data';
-- rule: location
CREATE EXTERNAL TABLE t (a INT) LOCATION 'data/rows.json';
-- rule: table_properties
CREATE EXTERNAL TABLE wiki STORED BY druid TBLPROPERTIES ("druid.datasource" = "wikiticker");
-- rule: properties
CREATE TABLE t (a INT) TBLPROPERTIES ('a' = '1', 'b' = '2');
-- rule: property
CREATE TABLE t (a INT) TBLPROPERTIES ('a;b' = 'c;d');
-- rule: create_table_like
CREATE TABLE t LIKE other;
CREATE TEMPORARY TABLE t LIKE db.other;
CREATE EXTERNAL TABLE t LIKE TOPIC 'edits' TBLPROPERTIES ('kafka.bootstrap.servers' = 'localhost:9092');
CREATE TABLE t LIKE FILE PARQUET '/data/part-0.parquet';
-- rule: create_table_from
CREATE EXTERNAL TABLE IF NOT EXISTS db.t FROM SUPERVISOR 'edits';
-- rule: supervised_clause
CREATE EXTERNAL TABLE t FROM SUPERVISOR 'edits' COMMENT 'theirs' TBLPROPERTIES ('druid.kafka.ingestion.taskCount' = '2');
-- rule: like_clause
CREATE EXTERNAL TABLE t LIKE db.other STORED AS PARQUET LOCATION '/data' TBLPROPERTIES ('a' = 'b');
-- rule: create_view
CREATE OR REPLACE VIEW v AS SELECT a FROM t;
CREATE TEMPORARY VIEW v AS SELECT a FROM t;
-- rule: view_columns
CREATE VIEW IF NOT EXISTS db.v (a COMMENT 'first', b) COMMENT 'a view' TBLPROPERTIES ('a' = 'b') AS SELECT 1, 2;
-- rule: create_materialized_view
CREATE MATERIALIZED VIEW v STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler' AS SELECT `__time`, a FROM t;
CREATE MATERIALIZED VIEW IF NOT EXISTS db.v AS SELECT a, count(*) AS n FROM t GROUP BY a;
-- rule: rewrite
CREATE MATERIALIZED VIEW v DISABLE REWRITE AS SELECT a FROM t;
ALTER MATERIALIZED VIEW v ENABLE REWRITE;
-- rule: view_clause
CREATE MATERIALIZED VIEW v COMMENT 'by day' STORED AS ORC TBLPROPERTIES ('rewriting.time.window' = '10min') AS SELECT a FROM t;
-- rule: create_database
CREATE DATABASE IF NOT EXISTS db COMMENT 'mine';
CREATE SCHEMA db LOCATION '/x' MANAGEDLOCATION '/y' WITH DBPROPERTIES ('a' = 'b');
CREATE DATABASE db USING ICEBERG CATALOG WITH DBPROPERTIES ('type' = 'rest', 'uri' = 'https://c');

-- rule: drop_table
DROP TABLE t PURGE;
-- rule: if_exists
DROP TABLE IF EXISTS db.t;
-- rule: drop_view
DROP VIEW IF EXISTS v;
-- rule: drop_materialized_view
DROP MATERIALIZED VIEW IF EXISTS db.v;
-- rule: alter_materialized_view
ALTER MATERIALIZED VIEW v REBUILD;
-- rule: drop_database
DROP DATABASE IF EXISTS db CASCADE;
DROP SCHEMA db RESTRICT;
-- rule: set_properties
ALTER TABLE t SET TBLPROPERTIES ('druid.kafka.ingestion' = 'START');
-- rule: unset_properties
ALTER TABLE t UNSET TBLPROPERTIES IF EXISTS ('a', 'b');
-- rule: add_partitions
ALTER TABLE t ADD IF NOT EXISTS PARTITION (day = DATE '2024-01-01', shop = 'a') LOCATION '/data/a' PARTITION (day = '2024-01-02', shop = 'b');
-- rule: drop_partitions
ALTER TABLE t DROP IF EXISTS PARTITION (day < '2024-01-01'), PARTITION (shop <> 'a', shop != 'b') PURGE;
-- rule: restore_partitions
ALTER TABLE t RESTORE PARTITION (__time >= '2024-01-01', __time < '2024-02-01');
-- rule: exchange_partition
ALTER TABLE t EXCHANGE PARTITION (k = 1) WITH TABLE db.received;
-- rule: change_partition_column
ALTER TABLE t PARTITION COLUMN (k BIGINT COMMENT 'a number');
-- rule: change_partition
ALTER TABLE t PARTITION (k = 1) RENAME TO PARTITION (k = -2);
ALTER TABLE t PARTITION (k = 1) SET LOCATION '/data/one';
-- rule: selected_values
MSCK REPAIR TABLE t ADD PARTITIONS (k = 1, day > '2024-01-01', shop LIKE 'a%');
-- rule: compared_value
MSCK REPAIR TABLE t DROP PARTITIONS (k != 1);
-- rule: repair_table
MSCK TABLE t;
MSCK REPAIR TABLE t SYNC PARTITIONS;
-- rule: show_partitions
SHOW PARTITIONS t;
SHOW PARTITIONS t WHERE year(d) = 2024 OR k IN (1, 2);
SHOW PARTITIONS t WHERE k > 1 AND d <= '2024-01-01' ORDER BY k DESC LIMIT 5;
-- rule: partition
SHOW PARTITIONS t PARTITION (k = TRUE, s = NULL);
DESCRIBE FORMATTED t PARTITION (k = 1);
TRUNCATE TABLE t PARTITION (k = 1);
-- rule: inserted_partition
INSERT OVERWRITE TABLE t PARTITION (k = 1, s) SELECT a, s FROM u;
INSERT INTO t PARTITION (k = 1) IF NOT EXISTS (a) VALUES (1);
-- rule: compared_partition
ALTER TABLE t DROP PARTITION (k >= 1, k == 2);
-- rule: partition_operator
ALTER TABLE t DROP PARTITION (k > TIMESTAMP '2024-01-01 00:00:00');
-- rule: partition_value
ALTER TABLE t DROP PARTITION (k <= FALSE);
-- rule: set_partition_spec
ALTER TABLE t SET PARTITION SPEC (month(ts));
-- rule: add_columns
ALTER TABLE t ADD COLUMNS (b STRING COMMENT 'new', c DOUBLE);
-- rule: change_column
ALTER TABLE t CHANGE COLUMN a b STRING COMMENT 'renamed' AFTER c;
ALTER TABLE t CHANGE a a BIGINT NOT NULL DISABLE NOVALIDATE FIRST CASCADE;
-- rule: replace_columns
ALTER TABLE t REPLACE COLUMNS (a STRING, b INT COMMENT 'a number');
-- rule: add_constraint
ALTER TABLE t ADD CONSTRAINT fk FOREIGN KEY (a, b) REFERENCES db.u (c, d) DISABLE NOVALIDATE RELY;
-- rule: drop_constraint
ALTER TABLE t DROP CONSTRAINT fk;
-- rule: change_storage
ALTER TABLE t SET LOCATION '/data/new';
ALTER TABLE t SET FILEFORMAT PARQUET;
ALTER TABLE t SET SERDE 'org.apache.hadoop.hive.serde2.OpenCSVSerde' WITH SERDEPROPERTIES ('separatorChar' = ';');
ALTER TABLE t SET SERDEPROPERTIES ('field.delim' = '|');
ALTER TABLE t UNSET SERDEPROPERTIES ('field.delim', 'escape.delim');
-- rule: alter_view
ALTER VIEW v AS SELECT a, b FROM t;
ALTER VIEW v SET TBLPROPERTIES ('a' = 'b');
ALTER VIEW v RENAME TO w;
-- rule: alter_database
ALTER DATABASE db SET DBPROPERTIES ('a' = 'b');
ALTER SCHEMA db SET OWNER USER ann;
ALTER DATABASE db SET LOCATION '/x';
-- rule: rename_table
ALTER TABLE db.t RENAME TO db.u;
-- rule: truncate_table
TRUNCATE TABLE t;
-- rule: use_database
USE db;

-- rule: insert
INSERT OVERWRITE TABLE t SELECT a, b FROM u WHERE a > 1;
-- rule: insert_target
INSERT INTO t VALUES (1, 'a;b'), (2, NULL);
INSERT OVERWRITE LOCAL DIRECTORY '/out' ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' SELECT a FROM t;
INSERT OVERWRITE DIRECTORY '/out' STORED AS ORC SELECT a FROM t;
-- rule: insert_columns
INSERT INTO TABLE db.t (a, b) SELECT 1, 2;
-- rule: without_effect
GRANT SELECT ON TABLE t TO USER u;
REVOKE ALL ON t FROM ROLE r;
LOCK TABLE t SHARED;
RELOAD FUNCTIONS;
SHOW CURRENT ROLES;
SHOW LOCKS t;
SHOW TRANSACTIONS;
ALTER TABLE t PARTITION (k = 1) CONCATENATE;
ALTER TABLE t TOUCH;
ALTER TABLE t SET OWNER USER u;
-- rule: resources
ADD JAR '/opt/functions.jar';
LIST JARS;
DELETE FILES '/opt/sessions.py';
-- rule: privilege
GRANT INSERT ON t TO GROUP g;
-- rule: principal
GRANT DELETE ON t TO ROLE r;
-- rule: load_data
LOAD DATA LOCAL INPATH '/data/day.csv' OVERWRITE INTO TABLE t PARTITION (k = 1);
LOAD DATA INPATH '/data/*.orc' INTO TABLE db.t;
-- rule: input_format
LOAD DATA INPATH '/data/day' INTO TABLE t INPUTFORMAT 'org.apache.hadoop.mapred.TextInputFormat' SERDE 'org.apache.hadoop.hive.serde2.JsonSerDe';
-- rule: multi_insert
FROM t INSERT INTO u SELECT a WHERE a > 1 INSERT OVERWRITE TABLE v SELECT b, count(*) GROUP BY b;
WITH q AS (SELECT * FROM t) FROM q INSERT INTO u SELECT a;

-- rule: delete_rows
DELETE FROM t;
DELETE FROM db.t WHERE a > 1 OR b IS NULL;
-- rule: update_rows
UPDATE t SET a = a + 1, `b` = concat('x', c) WHERE a IN (1, 2);
-- rule: assignment
EXPLAIN UPDATE db.t SET a = NULL;
-- rule: merge_rows
MERGE INTO t USING u ON t.a = u.a WHEN MATCHED AND u.b = 'x' THEN DELETE WHEN MATCHED THEN UPDATE SET b = u.b, c = 1;
-- rule: merge_source
MERGE INTO db.t AS x USING (SELECT a, b FROM u) y ON x.a = y.a WHEN NOT MATCHED THEN INSERT VALUES (y.a, y.b, NULL);
-- rule: merge_matched
MERGE INTO t x USING u AS y ON x.a = y.a WHEN MATCHED THEN DELETE;
-- rule: merge_not_matched
MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE WHEN NOT MATCHED AND u.b > 1 THEN INSERT (b, a) VALUES (u.b, 1);

-- rule: describe_table
DESCRIBE FORMATTED db.t;
DESC t added;
-- rule: describe_file
DESCRIBE 'orders.csv';
-- rule: describe_function
DESCRIBE FUNCTION EXTENDED lpad;
DESC FUNCTION 'lpad';
-- rule: describe_database
DESCRIBE DATABASE EXTENDED db;
-- rule: show_materialized_views
SHOW MATERIALIZED VIEWS;
SHOW MATERIALIZED VIEWS IN db LIKE 'd*';
-- rule: show_names
SHOW TABLES IN db;
SHOW FUNCTIONS;
-- rule: like_pattern
SHOW VIEWS LIKE 'wiki*|druid*';
-- rule: show_columns
SHOW COLUMNS IN t LIKE 'a*';
-- rule: show_create_table
SHOW CREATE TABLE db.t;
-- rule: show_create_database
SHOW CREATE DATABASE db;
SHOW CREATE SCHEMA db;
-- rule: show_table_extended
SHOW TABLE EXTENDED LIKE 't*';
SHOW TABLE EXTENDED IN db LIKE 't' PARTITION (k = 1);
-- rule: show_conf
SHOW CONF 'hive.local.time.zone';
-- rule: show_properties
SHOW TBLPROPERTIES t ('druid.datasource');
-- rule: set
SET;
SET -v;
SET hive.local.time.zone;
SET TIME ZONE UTC;
SET TIME ZONE LOCAL;
SET TIME ZONE '+05:30';
SET hivevar:day=2015-09-12;
-- rule: reset
RESET hive.local.time.zone;
-- rule: source
SOURCE setup/tables.q;
-- rule: explain
EXPLAIN DROP TABLE t;
-- rule: explain_mode
EXPLAIN FORMATTED SELECT 1;
EXPLAIN CBO INSERT INTO t SELECT 1;
EXPLAIN DEPENDENCY SELECT a FROM t;
EXPLAIN LOGICAL SELECT 1;
EXPLAIN DDL SELECT a FROM t;
-- rule: explain_ignored
EXPLAIN ANALYZE SELECT 1;
EXPLAIN EXTENDED VECTORIZATION ONLY DETAIL SELECT 1;
EXPLAIN CBO COST SELECT 1;
EXPLAIN LOCKS SELECT 1;

-- rule: analyze_table
ANALYZE TABLE t COMPUTE STATISTICS;
ANALYZE TABLE db.t COMPUTE STATISTICS NOSCAN;
ANALYZE TABLE t PARTITION (d = 'x', h) COMPUTE STATISTICS;
-- rule: for_columns
ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS;
ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS a, `b`;

-- rule: alter_ingestion
START INGESTION wiki;
HANDOFF INGESTION db.wiki;
STOP INGESTION 'edits';
WAIT INGESTION wiki;
-- rule: reset_ingestion
RESET INGESTION wiki;
-- rule: reset_target
RESET INGESTION wiki TO EARLIEST;
RESET INGESTION 'edits' TO LATEST;
RESET INGESTION db.wiki TO TIMESTAMP '2024-01-01 00:00:00';
-- rule: partition_offset
RESET INGESTION wiki TO OFFSETS (0:10, 1:20);
-- rule: rollback_ingestion
ALTER TABLE wiki ROLLBACK INGESTION;
-- rule: show_ingestions
SHOW INGESTIONS LIKE 'wiki*';
-- rule: show_tasks
SHOW TASKS FOR wiki WHERE STATE = 'RUNNING';
-- rule: show_task
SHOW TASK 'index_kafka_default.wiki_0123456789abcde_abcdefgh';
-- rule: show_problems
SHOW PROBLEMS;
-- rule: kill_task
KILL TASK 'index_kafka_default.wiki_0123456789abcde_abcdefgh';

-- rule: show_jobs
SHOW JOBS;
SHOW JOBS FOR db.wiki WHERE STATE = 'staged';
-- rule: describe_job
DESCRIBE JOB '0123456789ab';
-- rule: cancel_job
CANCEL JOB '0123456789ab';
-- rule: resume_job
RESUME JOB '0123456789ab';
-- rule: execute_table
ALTER TABLE t EXECUTE EXPIRE_SNAPSHOTS;
-- rule: expire_snapshots
ALTER TABLE t EXECUTE EXPIRE_SNAPSHOTS('2024-01-01 00:00:00');
-- rule: expire_snapshots
ALTER TABLE t EXECUTE EXPIRE_SNAPSHOTS BETWEEN '2024-01-01' AND '2024-02-01 12:00:00';
-- rule: expire_snapshots
ALTER TABLE db.t EXECUTE EXPIRE_SNAPSHOTS RETAIN LAST 5;
-- rule: delete_orphan_files
ALTER TABLE t EXECUTE DELETE ORPHAN-FILES;
-- rule: delete_orphan_files
ALTER TABLE t EXECUTE DELETE ORPHAN-FILES OLDER THAN ('2024-01-01');
-- rule: set_snapshot
ALTER TABLE t EXECUTE ROLLBACK(1234567890123456789);
-- rule: set_snapshot
ALTER TABLE t EXECUTE ROLLBACK('2024-01-01 00:00:00');
-- rule: set_snapshot
ALTER TABLE t EXECUTE SET_CURRENT_SNAPSHOT(42);
-- rule: set_tiered
ALTER TABLE wiki SET TIERED;
ALTER TABLE wiki SET TIERED ('tiered.hot.period' = 'P7D', 'tiered.granularity' = 'DAY');
-- rule: unset_tiered
ALTER TABLE wiki UNSET TIERED;
-- rule: archive_table
ARCHIVE TABLE wiki;
ARCHIVE TABLE db.wiki UP TO '2026-10-01' AND WAIT;
-- rule: unarchive_table
UNARCHIVE TABLE wiki;
UNARCHIVE TABLE db.wiki FROM '2026-09-01' TO '2026-10-01' AND WAIT;
-- rule: time_partition
ARCHIVE TABLE wiki PARTITION (`__time` = '2026-10-01');
UNARCHIVE TABLE wiki PARTITION (`__time` = '2026-10-01 12:00:00') AND WAIT;
-- rule: show_archives
SHOW ARCHIVES;
SHOW ARCHIVES FOR wiki;
-- rule: verify_table
VERIFY TABLE db.wiki;
VERIFY TABLE wiki FROM '2026-09-01' TO '2026-10-01';
-- rule: compact_table
ALTER TABLE wiki COMPACT 'major';
ALTER TABLE db.wiki COMPACT 'MAJOR' AND WAIT;
ALTER TABLE trips COMPACT 'minor';
-- rule: show_compactions
SHOW COMPACTIONS FOR wiki;
-- rule: show_segments
SHOW SEGMENTS FOR wiki;
-- rule: show_offsets
SHOW OFFSETS FOR topic_table;
SHOW OFFSETS topic_table;
-- rule: show_topics
SHOW TOPICS;
SHOW TOPICS LIKE 'wiki*';
-- rule: show_data_sources
SHOW DATA SOURCES;
SHOW DATA SOURCES LIKE 'wiki*';

-- rule: query
SELECT 1;
-- rule: explainable
(SELECT a FROM t) LIMIT 3;
-- rule: script_query
SELECT TRANSFORM (a, b) USING 'cat' FROM t;
MAP a, b USING 'cat' AS (k, v) FROM t;
-- rule: script_columns
SELECT TRANSFORM (a) USING 'cat' AS (k INT, v STRING) FROM t;
-- rule: script_format
SELECT TRANSFORM (a) ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' USING 'cat' AS (k) FROM t;
-- rule: with
WITH a AS (SELECT 1 AS x), b AS (SELECT x FROM a) SELECT * FROM b;
-- rule: cte
WITH a AS (SELECT 1 AS x) SELECT x FROM a;
-- rule: query_body
SELECT a FROM t UNION ALL SELECT b FROM u ORDER BY 1 LIMIT 3;
-- rule: query_term
(SELECT a FROM t) UNION (SELECT b FROM u);
-- rule: set_operator
SELECT a FROM t INTERSECT SELECT b FROM u;
SELECT a FROM t MINUS SELECT b FROM u;
-- rule: select
SELECT DISTINCT a, b AS c, d e FROM t WHERE a = 1;
-- rule: select_without_from
FROM t SELECT a WHERE a > 1;
-- rule: select_tail
SELECT a, sum(b) FROM t WHERE c = 1 GROUP BY a HAVING sum(b) > 2;
-- rule: select_item
SELECT a + 1 AS `next one`, b c FROM t;
-- rule: named_expression
SELECT 1 AS one, 2 two;
-- rule: star
SELECT t.*, u.a FROM t, u;
-- rule: values
VALUES (1, 'a'), (2, 'b');
-- rule: row
VALUES (1 + 1, CURRENT_DATE);
-- rule: from_clause
SELECT 1 FROM t a, u b;
-- rule: from_item
SELECT q.a FROM (SELECT a FROM t) AS q;
-- rule: as_of
SELECT a FROM t FOR SYSTEM_TIME AS OF '2024-01-01 10:00:00' AS x WHERE b > 1;
-- rule: as_of
SELECT x.a FROM t x JOIN db.t FOR SYSTEM_VERSION AS OF 1234567890123456789 y ON x.a = y.a;
-- rule: table_sample
SELECT a FROM t TABLESAMPLE (10 PERCENT) s;
-- rule: loose_file
SELECT o.a FROM 'orders.csv' AS o JOIN 'logs/*.parquet' AS l ON o.a = l.a;
-- rule: join
SELECT t.a FROM t JOIN u ON t.a = u.a;
-- rule: join_kind
SELECT t.a FROM t LEFT OUTER JOIN u ON t.a = u.a LEFT SEMI JOIN v ON t.b = v.b CROSS JOIN w;
-- rule: lateral_view
SELECT e.x FROM t LATERAL VIEW OUTER explode(xs) e AS x;
-- rule: where
SELECT a FROM t WHERE NOT a = 1;
-- rule: group_by
SELECT floor_month(`__time`), max(delta) FROM wiki GROUP BY floor_month(`__time`);
-- rule: grouping
SELECT a, b, sum(c) FROM t GROUP BY a, b WITH ROLLUP;
-- rule: grouping_set
SELECT a, b, sum(c) FROM t GROUP BY a, b GROUPING SETS ((a, b), (a), ());
-- rule: having
SELECT a FROM t GROUP BY a HAVING count(*) > 1;
-- rule: window_clause
SELECT sum(a) OVER w FROM t WINDOW w AS (PARTITION BY b);
-- rule: order_by
SELECT a FROM t ORDER BY a DESC, b;
-- rule: sort_by
SELECT a FROM t DISTRIBUTE BY a SORT BY b DESC;
SELECT a FROM t CLUSTER BY a;
-- rule: sort_key
SELECT a FROM t ORDER BY a ASC NULLS LAST;
-- rule: limit
SELECT a FROM t LIMIT 5, 10;
SELECT a FROM t LIMIT 10 OFFSET 5;
-- rule: expression
SELECT a OR b AND NOT c FROM t;
-- rule: conjunction
SELECT a FROM t WHERE a = 1 AND b = 2;
-- rule: negation
SELECT a FROM t WHERE NOT (a = 1);
-- rule: predicate
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a);
-- rule: comparison
SELECT a = 1, a == 1, a <=> b, a <> 1, a != 1, a < 1, a <= 1, a > 1, a >= 1 FROM t;
-- rule: between
SELECT a FROM t WHERE `__time` BETWEEN '2010-01-01 00:00:00' AND '2011-01-01 00:00:00' AND b NOT BETWEEN 1 AND 2;
-- rule: in_list
SELECT a FROM t WHERE a IN (1, 2) OR a NOT IN (SELECT b FROM u);
-- rule: like
SELECT a FROM t WHERE a LIKE 'x%' AND a NOT RLIKE 'y' AND a LIKE ANY ('p%', 'q%');
-- rule: is_test
SELECT a IS NULL, a IS NOT TRUE, a IS DISTINCT FROM b FROM t;
-- rule: operand
SELECT a + b - c, d || e, f & g FROM t;
-- rule: product
SELECT a * b / c % d, e DIV f FROM t;
-- rule: factor
SELECT -a, ~b, xs[0] FROM t;
-- rule: subscript
SELECT xs[1 + 1] FROM t;
-- rule: primary
SELECT (a + 1) * 2, CURRENT_TIMESTAMP, (SELECT max(b) FROM u) FROM t;
-- rule: column
SELECT `t`.`cityName` FROM t;
-- rule: call
SELECT count(*), count(DISTINCT a, b), if(a, b, c), unix_timestamp() FROM t;
-- rule: over
SELECT rank() OVER (ORDER BY a) FROM t;
-- rule: window
SELECT sum(a) OVER (PARTITION BY b ORDER BY c DESC) FROM t;
-- rule: frame
SELECT sum(a) OVER (ORDER BY c ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t;
-- rule: frame_bound
SELECT sum(a) OVER (ORDER BY c RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM t;
-- rule: cast
SELECT CAST(a AS TIMESTAMP WITH LOCAL TIME ZONE), CAST(b AS DECIMAL(10, 2)) FROM t;
-- rule: case
SELECT CASE WHEN a > 1 THEN 'x' ELSE 'y' END, CASE a WHEN 1 THEN 2 END FROM t;
-- rule: extract
SELECT EXTRACT(HOUR FROM `__time`) FROM t;
-- rule: floor_to
SELECT FLOOR(`__time` TO MONTH) FROM t;
-- rule: time_unit
SELECT EXTRACT(YEAR FROM `__time`) FROM t;
-- rule: literal
SELECT 'O''Brien', 'it\'s', "double", 1, 1.5, 2e10, 1L, 1S, 1Y, 1.5BD, TRUE, NULL;
-- rule: time_literal
SELECT DATE '2010-01-01', TIMESTAMP '2010-01-01 00:00:00', TIMESTAMPLOCALTZ '2010-01-01 00:00:00 US/Pacific';
-- rule: interval
SELECT CURRENT_DATE - INTERVAL '1' DAY;

-- rule: create_stream
CREATE STREAM IF NOT EXISTS s FROM clicks INTO db.pages AS SELECT id, upper(page) AS page FROM clicks WHERE price > 0;
-- rule: stream_properties
CREATE STREAM s FROM clicks INTO TABLE pages WITH PROPERTIES ('trigger' = 'PT1S') AS SELECT * FROM clicks;
-- rule: alter_stream
ALTER STREAM db.s SET PROPERTIES ('trigger' = 'PT1S', 'max.records.per.batch' = '100');
-- rule: alter_stream
ALTER STREAM s UNSET PROPERTIES ('trigger');
-- rule: alter_stream
ALTER STREAM s AS SELECT id, price FROM clicks WHERE price > 0;
-- rule: change_stream
PAUSE STREAM db.s;
-- rule: run_stream
RUN STREAM s LIMIT 1000;
-- rule: reset_stream
RESET STREAM s TO OFFSETS (0:12, 1:7);
-- rule: checkpoint_stream
CHECKPOINT STREAM db.s;
-- rule: rollback_stream
ROLLBACK STREAM s TO CHECKPOINT;
-- rule: rollback_stream
ROLLBACK STREAM s TO CHECKPOINT 12;
-- rule: rollback_stream
ROLLBACK STREAM db.s TO BATCH 7;
-- rule: show_checkpoints
SHOW CHECKPOINTS s;
-- rule: drop_stream
DROP STREAM IF EXISTS s WITH TABLE;
-- rule: show_streams
SHOW STREAMS LIKE 'click*';
-- rule: show_batches
SHOW BATCHES FOR s;
-- rule: describe_stream
DESCRIBE STREAM s;

-- rule: type
CREATE TABLE t (a BOOLEAN, b TINYINT, c SMALLINT, d BIGINT, e FLOAT, f DOUBLE, g BINARY, h DATE, i TIMESTAMP WITH LOCAL TIME ZONE, j INTEGER);
-- rule: decimal_type
CREATE TABLE t (a DECIMAL, b DECIMAL(10), c DECIMAL(10, 2));
-- rule: text_type
CREATE TABLE t (a CHAR(3), b VARCHAR(10));
-- rule: array_type
CREATE TABLE t (a ARRAY<ARRAY<INT>>);
-- rule: map_type
CREATE TABLE t (a MAP<STRING, BIGINT>);
-- rule: struct_type
CREATE TABLE t (a STRUCT<x: INT, y: ARRAY<STRING>>);
-- rule: table_name
SELECT a FROM db.t;
-- rule: name
SELECT `select` FROM `from`;
-- rule: create_macro
CREATE TEMPORARY MACRO plus_one(x INT) x + 1;
CREATE TEMPORARY MACRO answer() 42;
-- rule: drop_macro
DROP TEMPORARY MACRO IF EXISTS plus_one;
-- rule: create_function
CREATE FUNCTION texts.clean AS 'texts.clean' USING FILE '/opt/functions/texts.py';
CREATE TEMPORARY FUNCTION IF NOT EXISTS clean AS 'com.example.Clean' USING JAR '/opt/a.jar', JAR '/opt/b.jar';
-- rule: function_file
CREATE FUNCTION clean AS 'texts.clean' USING FILE '/opt/functions/texts.py';
-- rule: drop_function
DROP FUNCTION IF EXISTS texts.clean;
DROP TEMPORARY FUNCTION clean;
