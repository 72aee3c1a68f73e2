BEGIN TRANSACTION;
CREATE TABLE databases (
            name TEXT PRIMARY KEY,
            comment TEXT NOT NULL DEFAULT ''
        );
INSERT INTO "databases" VALUES('default','Default Hive database');
INSERT INTO "databases" VALUES('d','');
CREATE TABLE ingestion_specs (
            table_id TEXT NOT NULL,
            version INTEGER NOT NULL,
            definition TEXT NOT NULL,          -- the Table as JSON
            spec TEXT NOT NULL,                -- what was sent to Druid, as JSON, without secrets
            accepted TEXT NOT NULL DEFAULT '', -- what Druid has made of it, as JSON, secrets starred
            submitted TEXT NOT NULL,           -- when, ISO 8601 in UTC
            worked INTEGER NOT NULL DEFAULT 0, -- whether its tasks were seen running
            PRIMARY KEY (table_id, version)
        );
INSERT INTO "ingestion_specs" VALUES('4c88212b42644258',1,'{"kind":"druid","external":true,"columns":[{"name":"__time","type":"timestamp"},{"name":"n","type":"bigint"}],"properties":{"kafka.topic":"started","kafka.bootstrap.servers":"localhost:9092","druid.datasource":"default.started"},"owns_data_source":true}','{"spec": "started"}','','2026-03-01T00:00:00+00:00',0);
INSERT INTO "ingestion_specs" VALUES('5132004fdbe40f2e',1,'{"kind":"druid","external":true,"columns":[{"name":"__time","type":"timestamp"},{"name":"n","type":"bigint"}],"properties":{"kafka.topic":"altered","kafka.bootstrap.servers":"localhost:9092","druid.datasource":"default.altered"},"owns_data_source":true}','{"spec": "altered"}','','2026-03-01T00:00:00+00:00',1);
INSERT INTO "ingestion_specs" VALUES('ef20bc3c8f00a454',1,'{"kind":"druid","external":true,"columns":[{"name":"__time","type":"timestamp"},{"name":"n","type":"bigint"}],"properties":{"kafka.topic":"rolled","kafka.bootstrap.servers":"localhost:9092","druid.datasource":"default.rolled"},"owns_data_source":true}','{"spec": "rolled"}','','2026-03-01T00:00:00+00:00',1);
INSERT INTO "ingestion_specs" VALUES('91e051e67ffff4e1',1,'{"kind":"druid","external":true,"columns":[{"name":"__time","type":"timestamp"},{"name":"n","type":"bigint"}],"properties":{"kafka.topic":"reset","kafka.bootstrap.servers":"localhost:9092","druid.datasource":"default.reset"},"owns_data_source":true}','{"spec": "reset"}','','2026-03-01T00:00:00+00:00',1);
INSERT INTO "ingestion_specs" VALUES('c8b09a8ef601d772',1,'{"kind":"druid","external":true,"columns":[{"name":"__time","type":"timestamp"},{"name":"n","type":"bigint"}],"properties":{"kafka.topic":"purged","kafka.bootstrap.servers":"localhost:9092","druid.datasource":"default.purged"},"owns_data_source":true}','{"spec": "purged"}','','2026-03-01T00:00:00+00:00',1);
INSERT INTO "ingestion_specs" VALUES('3b24e5c954af57b9',1,'{"kind":"druid","external":true,"columns":[{"name":"__time","type":"timestamp"},{"name":"n","type":"bigint"}],"properties":{"kafka.topic":"quiet","kafka.bootstrap.servers":"localhost:9092","druid.datasource":"default.quiet"},"owns_data_source":true}','{"spec": "quiet"}','','2026-03-01T00:00:00+00:00',1);
CREATE TABLE ingestions (
            table_id TEXT PRIMARY KEY,         -- of a table fed from Kafka
            started INTEGER NOT NULL,          -- whether its supervisor should be there: between START and STOP
            pending TEXT NOT NULL DEFAULT ''   -- what was begun and is not finished, as JSON
        );
INSERT INTO "ingestions" VALUES('5132004fdbe40f2e',1,'{"verb": "ALTER", "runs": true, "again": "START INGESTION default.altered"}');
INSERT INTO "ingestions" VALUES('ef20bc3c8f00a454',1,'{"verb": "ALTER", "rollback": true}');
INSERT INTO "ingestions" VALUES('91e051e67ffff4e1',1,'{"verb": "RESET", "was": "RUNNING", "asked": "TO EARLIEST", "again": "RESET INGESTION default.reset TO EARLIEST", "offsets": {"0": 1, "1": 2}, "moved": true}');
INSERT INTO "ingestions" VALUES('c8b09a8ef601d772',1,'{"verb": "DROP", "again": "DROP TABLE default.purged PURGE"}');
INSERT INTO "ingestions" VALUES('3b24e5c954af57b9',1,'');
INSERT INTO "ingestions" VALUES('4c88212b42644258',0,'{"verb": "START"}');
CREATE TABLE jobs (
            job_id TEXT PRIMARY KEY,
            statement_id TEXT NOT NULL,        -- shared by the targets of a multi-insert
            ended INTEGER NOT NULL,
            definition TEXT NOT NULL           -- the Job as JSON
        );
INSERT INTO "jobs" VALUES('planned','s_planned',0,'{"id": "planned", "statement_id": "s_planned", "number": 0, "kind": "INSERT INTO", "database": "default", "table": "t", "table_id": "85313028ef319f38", "druid": "embedded:", "fingerprint": "f", "text": "INSERT INTO t SELECT 1", "spec": {"type": "index_parallel", "spec": {"dataSchema": {"dataSource": "default.t"}}}, "replaces": "nothing", "state": "planned", "staged": null, "attempt": 0, "notes": {}, "definition": "", "report": null, "error": "", "created": "2026-03-01T00:00:10.000Z", "changed": "2026-03-01T00:00:10.000Z"}');
INSERT INTO "jobs" VALUES('staged','s_staged',0,'{"id": "staged", "statement_id": "s_staged", "number": 0, "kind": "INSERT INTO", "database": "default", "table": "t", "table_id": "85313028ef319f38", "druid": "embedded:", "fingerprint": "f", "text": "INSERT INTO t SELECT 1", "spec": {"type": "index_parallel", "spec": {"dataSchema": {"dataSource": "default.t"}}}, "replaces": "nothing", "state": "staged", "staged": {"folder": "staging/x", "rows": 3, "size": 400, "intervals": [[0, 86400000]], "sums": {"n": {"total": 4611686018427387904, "magnitude": 0.0}, "x": {"total": NaN, "magnitude": Infinity}}, "skipped": 1}, "attempt": 0, "notes": {}, "definition": "", "report": null, "error": "", "created": "2026-03-01T00:00:11.000Z", "changed": "2026-03-01T00:00:12.000Z"}');
INSERT INTO "jobs" VALUES('failed','s_failed',0,'{"id": "failed", "statement_id": "s_failed", "number": 0, "kind": "INSERT OVERWRITE", "database": "default", "table": "t", "table_id": "85313028ef319f38", "druid": "embedded:", "fingerprint": "f", "text": "INSERT INTO t SELECT 1", "spec": {"type": "index_parallel", "spec": {"dataSchema": {"dataSource": "default.t"}}}, "replaces": "all", "state": "staged", "staged": {"folder": "staging/x", "rows": 3, "size": 400, "intervals": [[0, 86400000]], "sums": {"n": {"total": 4611686018427387904, "magnitude": 0.0}, "x": {"total": NaN, "magnitude": Infinity}}, "skipped": 1}, "attempt": 1, "notes": {}, "definition": "", "report": null, "error": "the task failed", "created": "2026-03-01T00:00:13.000Z", "changed": "2026-03-01T00:00:15.000Z"}');
INSERT INTO "jobs" VALUES('submitted','s_submitted',0,'{"id": "submitted", "statement_id": "s_submitted", "number": 0, "kind": "INSERT INTO", "database": "default", "table": "t", "table_id": "85313028ef319f38", "druid": "http://druid:8888", "fingerprint": "f", "text": "INSERT INTO t SELECT 1", "spec": {"type": "index_parallel", "spec": {"dataSchema": {"dataSource": "default.t"}}}, "replaces": "nothing", "state": "submitted", "staged": {"folder": "staging/x", "rows": 3, "size": 400, "intervals": [[0, 86400000]], "sums": {"n": {"total": 4611686018427387904, "magnitude": 0.0}, "x": {"total": NaN, "magnitude": Infinity}}, "skipped": 1}, "attempt": 2, "notes": {"used": [], "seen": []}, "definition": "", "report": null, "error": "", "created": "2026-03-01T00:00:16.000Z", "changed": "2026-03-01T00:00:18.000Z"}');
INSERT INTO "jobs" VALUES('withdrawing','s_withdrawing',0,'{"id": "withdrawing", "statement_id": "s_withdrawing", "number": 0, "kind": "INSERT INTO", "database": "default", "table": "t", "table_id": "85313028ef319f38", "druid": "http://druid:8888", "fingerprint": "f", "text": "INSERT INTO t SELECT 1", "spec": {"type": "index_parallel", "spec": {"dataSchema": {"dataSource": "default.t"}}}, "replaces": "nothing", "state": "published", "staged": {"folder": "staging/x", "rows": 3, "size": 400, "intervals": [[0, 86400000]], "sums": {"n": {"total": 4611686018427387904, "magnitude": 0.0}, "x": {"total": NaN, "magnitude": Infinity}}, "skipped": 1}, "attempt": 1, "notes": {"withdraws": "cancelled"}, "definition": "", "report": null, "error": "", "created": "2026-03-01T00:00:19.000Z", "changed": "2026-03-01T00:00:21.000Z"}');
INSERT INTO "jobs" VALUES('verified','s_verified',0,'{"id": "verified", "statement_id": "s_verified", "number": 0, "kind": "CREATE TABLE AS", "database": "default", "table": "made", "table_id": "85313028ef319f38", "druid": "embedded:", "fingerprint": "f", "text": "INSERT INTO t SELECT 1", "spec": {"type": "index_parallel", "spec": {"dataSchema": {"dataSource": "default.t"}}}, "replaces": "nothing", "state": "verified", "staged": {"folder": "staging/x", "rows": 3, "size": 400, "intervals": [[0, 86400000]], "sums": {"n": {"total": 4611686018427387904, "magnitude": 0.0}, "x": {"total": NaN, "magnitude": Infinity}}, "skipped": 1}, "attempt": 1, "notes": {}, "definition": "{\"kind\":\"druid\",\"columns\":[],\"external\":true,\"properties\":{}}", "report": {"task": "hivedruid_verified_1", "rows": 3, "segments": 1, "size": 500}, "error": "", "created": "2026-03-01T00:00:22.000Z", "changed": "2026-03-01T00:00:24.000Z"}');
INSERT INTO "jobs" VALUES('cleaned','s_cleaned',1,'{"id": "cleaned", "statement_id": "s_cleaned", "number": 0, "kind": "INSERT INTO", "database": "default", "table": "t", "table_id": "85313028ef319f38", "druid": "embedded:", "fingerprint": "f", "text": "INSERT INTO t SELECT 1", "spec": {"type": "index_parallel", "spec": {"dataSchema": {"dataSource": "default.t"}}}, "replaces": "nothing", "state": "cleaned", "staged": {"folder": "staging/x", "rows": 3, "size": 400, "intervals": [[0, 86400000]], "sums": {"n": {"total": 4611686018427387904, "magnitude": 0.0}, "x": {"total": NaN, "magnitude": Infinity}}, "skipped": 1}, "attempt": 1, "notes": {}, "definition": "", "report": {"task": "hivedruid_cleaned_1", "rows": 3, "segments": 1, "size": 500}, "error": "", "created": "2026-03-01T00:00:25.000Z", "changed": "2026-03-01T00:00:27.000Z"}');
INSERT INTO "jobs" VALUES('cancelled','s_cancelled',1,'{"id": "cancelled", "statement_id": "s_cancelled", "number": 0, "kind": "INSERT INTO", "database": "default", "table": "t", "table_id": "85313028ef319f38", "druid": "embedded:", "fingerprint": "f", "text": "INSERT INTO t SELECT 1", "spec": {"type": "index_parallel", "spec": {"dataSchema": {"dataSource": "default.t"}}}, "replaces": "nothing", "state": "cancelled", "staged": null, "attempt": 0, "notes": {}, "definition": "", "report": null, "error": "interrupted", "created": "2026-03-01T00:00:28.000Z", "changed": "2026-03-01T00:00:29.000Z"}');
INSERT INTO "jobs" VALUES('view','s_view',0,'{"id": "view", "statement_id": "s_view", "number": 0, "kind": "MATERIALIZED VIEW", "database": "default", "table": "t", "table_id": "85313028ef319f38", "druid": "embedded:", "fingerprint": "f", "text": "INSERT INTO t SELECT 1", "spec": {"type": "index_parallel", "spec": {"dataSchema": {"dataSource": "default.t"}}}, "replaces": "nothing", "state": "staged", "staged": {"folder": "staging/x", "rows": 3, "size": 400, "intervals": [[0, 86400000]], "sums": {"n": {"total": 4611686018427387904, "magnitude": 0.0}, "x": {"total": NaN, "magnitude": Infinity}}, "skipped": 1}, "attempt": 0, "notes": {}, "definition": "", "report": null, "error": "", "created": "2026-03-01T00:00:30.000Z", "changed": "2026-03-01T00:00:31.000Z"}');
CREATE TABLE materialized_views (
            table_id TEXT PRIMARY KEY,         -- of the Druid table that holds the view's rows
            built TEXT NOT NULL                -- the state of its sources that the rows were computed from, as JSON
        );
CREATE TABLE places (
            data_source TEXT PRIMARY KEY,      -- that a table of this catalog stands for
            druid TEXT NOT NULL                -- where its rows were written, or seen first: see catalog/places.py
        );
CREATE TABLE segments (
            segment_id INTEGER PRIMARY KEY,
            data_source TEXT NOT NULL,
            start_ms INTEGER NOT NULL,         -- interval, half open, milliseconds since the epoch
            end_ms INTEGER NOT NULL,
            version TEXT NOT NULL,
            partition INTEGER NOT NULL,
            path TEXT NOT NULL,                -- of the Parquet file, below the home folder
            num_rows INTEGER NOT NULL,
            size INTEGER NOT NULL,             -- bytes
            schema TEXT NOT NULL,              -- JSON: column name -> Druid type, in column order
            used INTEGER NOT NULL DEFAULT 1    -- 0: replaced or dropped, the file waits for its last reader
        );
CREATE TABLE statistics (
            druid TEXT NOT NULL,               -- the druid.url that was asked
            data_source TEXT NOT NULL,
            facts TEXT NOT NULL,               -- rows, cardinalities and what they were taken of, as JSON
            PRIMARY KEY (druid, data_source)
        );
CREATE TABLE tables (
            table_id TEXT PRIMARY KEY,
            database TEXT NOT NULL REFERENCES databases (name),
            name TEXT NOT NULL,
            definition TEXT NOT NULL,          -- the Table as JSON
            UNIQUE (database, name)
        );
INSERT INTO "tables" VALUES('85313028ef319f38','default','t','{"kind":"druid","external":true,"columns":[{"name":"__time","type":"timestamp"},{"name":"n","type":"bigint"}],"properties":{"druid.rollup":"false","druid.datasource":"default.t"},"owns_data_source":true}');
INSERT INTO "tables" VALUES('fb8fcdc8b6f8334b','default','plain','{"kind":"iceberg","external":false,"columns":[{"name":"n","type":"bigint"}],"properties":{},"format":"orc"}');
INSERT INTO "tables" VALUES('ed04adf35270c8a2','default','v','{"kind":"view","external":false,"columns":[{"name":"n","type":"bigint"}],"properties":{},"view_text":"SELECT n FROM `default`.plain"}');
INSERT INTO "tables" VALUES('4c88212b42644258','default','started','{"kind":"druid","external":true,"columns":[{"name":"__time","type":"timestamp"},{"name":"n","type":"bigint"}],"properties":{"kafka.topic":"started","kafka.bootstrap.servers":"localhost:9092","druid.datasource":"default.started"},"owns_data_source":true}');
INSERT INTO "tables" VALUES('5132004fdbe40f2e','default','altered','{"kind":"druid","external":true,"columns":[{"name":"__time","type":"timestamp"},{"name":"n","type":"bigint"}],"properties":{"kafka.topic":"altered","kafka.bootstrap.servers":"localhost:9092","druid.datasource":"default.altered"},"owns_data_source":true}');
INSERT INTO "tables" VALUES('ef20bc3c8f00a454','default','rolled','{"kind":"druid","external":true,"columns":[{"name":"__time","type":"timestamp"},{"name":"n","type":"bigint"}],"properties":{"kafka.topic":"rolled","kafka.bootstrap.servers":"localhost:9092","druid.datasource":"default.rolled"},"owns_data_source":true}');
INSERT INTO "tables" VALUES('91e051e67ffff4e1','default','reset','{"kind":"druid","external":true,"columns":[{"name":"__time","type":"timestamp"},{"name":"n","type":"bigint"}],"properties":{"kafka.topic":"reset","kafka.bootstrap.servers":"localhost:9092","druid.datasource":"default.reset"},"owns_data_source":true}');
INSERT INTO "tables" VALUES('c8b09a8ef601d772','default','purged','{"kind":"druid","external":true,"columns":[{"name":"__time","type":"timestamp"},{"name":"n","type":"bigint"}],"properties":{"kafka.topic":"purged","kafka.bootstrap.servers":"localhost:9092","druid.datasource":"default.purged"},"owns_data_source":true}');
INSERT INTO "tables" VALUES('3b24e5c954af57b9','default','quiet','{"kind":"druid","external":true,"columns":[{"name":"__time","type":"timestamp"},{"name":"n","type":"bigint"}],"properties":{"kafka.topic":"quiet","kafka.bootstrap.servers":"localhost:9092","druid.datasource":"default.quiet"},"owns_data_source":true}');
CREATE INDEX segments_by_source ON segments (data_source, used);
CREATE INDEX jobs_by_end ON jobs (ended);
COMMIT;
PRAGMA user_version = 6;
