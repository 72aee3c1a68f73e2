"""The schema of the catalog: numbered steps, the same for both databases.

Statements are in SQLite's dialect; `postgres_dialect` renders them for PostgreSQL. Schema changes are new steps, never
edits.
"""

from __future__ import annotations


class OnSqlite(str):
    """A statement for SQLite alone: the segments of the embedded store, which is always in the home folder, and the
    rows that earlier versions left, which no catalog on PostgreSQL contains."""

    __slots__ = ()


MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE databases (
            name TEXT PRIMARY KEY,
            comment TEXT NOT NULL DEFAULT ''
        )
        """,
        "INSERT INTO databases (name, comment) VALUES ('default', 'Default Hive database')",
        """
        CREATE TABLE tables (
            table_id TEXT PRIMARY KEY,
            database TEXT NOT NULL REFERENCES databases (name),
            name TEXT NOT NULL,
            definition TEXT NOT NULL,          -- the Table as JSON
            UNIQUE (database, name)
        )
        """,
        OnSqlite("""
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
        )
        """),
        OnSqlite("CREATE INDEX segments_by_source ON segments (data_source, used)"),
    ),
    (
        """
        CREATE TABLE ingestions (
            table_id TEXT PRIMARY KEY,         -- of a table fed from Kafka
            started INTEGER NOT NULL,          -- whether its supervisor should be there: between START and STOP
            pending TEXT NOT NULL DEFAULT ''   -- what was begun and is not finished, as JSON
        )
        """,
        """
        CREATE TABLE ingestion_specs (
            table_id TEXT NOT NULL,
            version INTEGER NOT NULL,
            definition TEXT NOT NULL,          -- the Table as JSON
            spec TEXT NOT NULL,                -- what was sent to Druid, as JSON, without secrets
            accepted TEXT NOT NULL DEFAULT '', -- what Druid has made of it, as JSON, secrets starred
            submitted TEXT NOT NULL,           -- when, ISO 8601 in UTC
            worked INTEGER NOT NULL DEFAULT 0, -- whether its tasks were seen running
            PRIMARY KEY (table_id, version)
        )
        """,
    ),
    (
        """
        CREATE TABLE statistics (
            druid TEXT NOT NULL,               -- the druid.url that was asked
            data_source TEXT NOT NULL,
            facts TEXT NOT NULL,               -- rows, cardinalities and what they were taken of, as JSON
            PRIMARY KEY (druid, data_source)
        )
        """,
        """
        CREATE TABLE materialized_views (
            table_id TEXT PRIMARY KEY,         -- of the Druid table that holds the view's rows
            built TEXT NOT NULL                -- the state of its sources that the rows were computed from, as JSON
        )
        """,
    ),
    (
        """
        CREATE TABLE jobs (
            job_id TEXT PRIMARY KEY,
            statement_id TEXT NOT NULL,        -- shared by the targets of a multi-insert
            ended INTEGER NOT NULL,
            definition TEXT NOT NULL           -- the Job as JSON
        )
        """,
        "CREATE INDEX jobs_by_end ON jobs (ended)",
    ),
    (
        """
        CREATE TABLE places (
            data_source TEXT PRIMARY KEY,      -- that a table of this catalog stands for
            druid TEXT NOT NULL                -- where its rows were written, or seen first: see catalog/places.py
        )
        """,
    ),
    (),  # managed tables are in iceberg.sqlite: versions without support for that file must not write
    (
        """
        CREATE TABLE operations (
            number INTEGER PRIMARY KEY,        -- in the order in which they began
            id TEXT NOT NULL UNIQUE,
            kind TEXT NOT NULL,                -- see operations/kinds.py
            statement_id TEXT NOT NULL,        -- shared by the operations of one statement
            statement TEXT NOT NULL,           -- its name in SHOW JOBS
            "database" TEXT NOT NULL,
            "table" TEXT NOT NULL,
            table_id TEXT NOT NULL,
            druid TEXT NOT NULL,               -- the druid.url
            text TEXT NOT NULL,
            state TEXT NOT NULL,
            version INTEGER NOT NULL,          -- counts the changes of this row
            ended INTEGER NOT NULL,
            notes TEXT NOT NULL,               -- the fields of the kind, as JSON
            error TEXT NOT NULL,
            created TEXT NOT NULL,             -- ISO 8601 in UTC
            changed TEXT NOT NULL
        )
        """,
        "CREATE INDEX operations_by_end ON operations (ended)",
        OnSqlite("""
        INSERT INTO operations (
            id, kind, statement_id, statement, "database", "table", table_id, druid, text, state, version, ended, notes,
            error, created, changed
        )
        SELECT
            job_id, CASE job_field(definition, 'kind') WHEN 'MATERIALIZED VIEW' THEN 'view' ELSE 'load' END,
            statement_id, job_field(definition, 'kind'), job_field(definition, 'database'),
            job_field(definition, 'table'), job_field(definition, 'table_id'), job_field(definition, 'druid'),
            job_field(definition, 'text'), job_field(definition, 'state'), 1, ended, load_notes(definition),
            job_field(definition, 'error'), job_field(definition, 'created'), job_field(definition, 'changed')
        FROM jobs ORDER BY rowid
        """),
        "DROP TABLE jobs",
    ),
    (
        OnSqlite("""
        INSERT INTO operations (
            id, kind, statement_id, statement, "database", "table", table_id, druid, text, state, version, ended, notes,
            error, created, changed
        )
        SELECT
            t.name || '_' || lower(hex(randomblob(6))), 'ingestion', lower(hex(randomblob(16))),
            job_field(i.pending, 'verb')
                || CASE WHEN job_field(i.pending, 'verb') IN ('ALTER', 'DROP') THEN ' TABLE' ELSE ' INGESTION' END,
            t.database, t.name, t.table_id, '',
            job_field(i.pending, 'again'), CASE job_field(i.pending, 'moved') WHEN 'True' THEN 'moved' ELSE 'begun' END,
            1, 0, change_notes(i.pending), '', strftime('%Y-%m-%dT%H:%M:%fZ'), strftime('%Y-%m-%dT%H:%M:%fZ')
        FROM ingestions i JOIN tables t ON t.table_id = i.table_id WHERE i.pending <> '' ORDER BY t.name
        """),
        "ALTER TABLE ingestions DROP COLUMN pending",
    ),
    (
        OnSqlite("DROP INDEX segments_by_source"),
        OnSqlite("CREATE INDEX segments_by_time ON segments (data_source, used, start_ms, end_ms, partition)"),
        OnSqlite("CREATE INDEX segments_by_path ON segments (path, used)"),
        OnSqlite("CREATE INDEX segments_unused ON segments (path) WHERE used = 0"),
    ),
    (
        """
        CREATE TABLE streams (
            stream_id TEXT PRIMARY KEY,
            database TEXT NOT NULL REFERENCES databases (name),
            name TEXT NOT NULL,
            definition TEXT NOT NULL,          -- the Stream as JSON
            desired TEXT NOT NULL,             -- running, paused or stopped
            position TEXT NOT NULL,            -- of the last batch that is known to be committed, as JSON
            skipped TEXT NOT NULL,             -- offsets after it that gave no rows, as JSON
            attempt INTEGER NOT NULL,          -- the batch whose commit was begun; 0 for none
            status TEXT NOT NULL,              -- what the manager reports, as JSON
            manager TEXT NOT NULL DEFAULT '',  -- the process that runs the stream
            beat REAL NOT NULL DEFAULT 0,      -- when it reported last, in seconds since 1970
            UNIQUE (database, name)
        )
        """,
    ),
    (
        # the positions of the checkpoints, as a JSON list
        "ALTER TABLE streams ADD COLUMN checkpoints TEXT NOT NULL DEFAULT '[]'",
        # the version of the definition that the manager runs
        "ALTER TABLE streams ADD COLUMN followed INTEGER NOT NULL DEFAULT 0",
    ),
    (
        """
        CREATE TABLE archived_batches (
            batch_id TEXT PRIMARY KEY,         -- the operation that archives it
            table_id TEXT NOT NULL,
            state TEXT NOT NULL,               -- that of the operation: see operations/archives.py
            intervals TEXT NOT NULL,           -- start and end in milliseconds, and version of the lock, as JSON
            row_count INTEGER NOT NULL
        )
        """,
        "CREATE INDEX archived_batches_by_table ON archived_batches (table_id)",
        # removals of segments by the id of the task: whether they took place, or were given up
        OnSqlite("CREATE TABLE removals (task TEXT PRIMARY KEY, is_done INTEGER NOT NULL)"),
    ),
    (
        # what the operation does to the cold part
        "ALTER TABLE archived_batches ADD COLUMN effect TEXT NOT NULL DEFAULT 'moved'",
        # which rows of the cold part it removes, as JSON
        "ALTER TABLE archived_batches ADD COLUMN removal TEXT NOT NULL DEFAULT ''",
    ),
    (
        """
        CREATE TABLE archived_intervals (
            table_id TEXT NOT NULL,
            batch_id TEXT NOT NULL,
            start_ms INTEGER NOT NULL,         -- half open, milliseconds since the epoch
            end_ms INTEGER NOT NULL,
            version TEXT NOT NULL              -- that of the lock
        )
        """,
        OnSqlite("""
        INSERT INTO archived_intervals (table_id, batch_id, start_ms, end_ms, version)
        SELECT b.table_id, b.batch_id, json_extract(each.value, '$[0]'),
            json_extract(each.value, '$[1]'), json_extract(each.value, '$[2]')
        FROM archived_batches b, json_each(b.intervals) AS each ORDER BY b.rowid, each.key
        """),
        "ALTER TABLE archived_batches DROP COLUMN intervals",
        "CREATE INDEX archived_intervals_by_batch ON archived_intervals (batch_id)",
        "CREATE INDEX archived_intervals_by_time ON archived_intervals (table_id, end_ms, start_ms, version, batch_id)",
        "CREATE INDEX archived_intervals_by_length ON archived_intervals (table_id, end_ms - start_ms)",
        "CREATE INDEX archived_batches_not_done ON archived_batches (table_id) WHERE state <> 'done'",
    ),
    (
        # the sums of columns of the rows that were archived, as JSON
        "ALTER TABLE archived_batches ADD COLUMN sums TEXT NOT NULL DEFAULT '[]'",
    ),
    (
        """
        CREATE TABLE footers (
            place TEXT NOT NULL,               -- the LOCATION of an external table, or the id of a managed one
            path TEXT NOT NULL,                -- of a file, or of a manifest
            size INTEGER NOT NULL,             -- bytes
            modified INTEGER NOT NULL,         -- nanoseconds since the epoch
            row_count INTEGER,                 -- NULL if it is damaged
            columns TEXT NOT NULL,             -- bounds and nulls of columns, as JSON
            PRIMARY KEY (place, path)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE file_statistics (
            table_id TEXT PRIMARY KEY,         -- of an external or managed table
            state TEXT NOT NULL,               -- that of its files
            facts TEXT NOT NULL                -- combined from all of its files, as JSON
        )
        """,
    ),
    (),  # columns of managed tables may have other names in Iceberg: versions that ignore that must not write
    (
        """
        CREATE TABLE partitions (
            table_id TEXT NOT NULL,            -- of an external table of files
            name TEXT NOT NULL,                -- column=value/column=value, escaped as in the names of folders
            location TEXT,                     -- NULL for the folder of that name below the LOCATION of the table
            PRIMARY KEY (table_id, name)
        ) WITHOUT ROWID
        """,
    ),
    ("ALTER TABLE databases ADD COLUMN details TEXT NOT NULL DEFAULT '{}'",),  # see catalog/databases.py
    (
        """
        CREATE TABLE functions (
            database TEXT NOT NULL REFERENCES databases (name),
            name TEXT NOT NULL,
            definition TEXT NOT NULL,          -- the UserFunction as JSON
            PRIMARY KEY (database, name)
        ) WITHOUT ROWID
        """,
    ),
    (
        """
        CREATE TABLE druid_versions (
            druid TEXT PRIMARY KEY,            -- a cluster, as in `places`
            version TEXT NOT NULL              -- that of its broker when it was last used
        ) WITHOUT ROWID
        """,
    ),
)
"""The migration statements by schema version: the first ones create version 1 in an empty database, and so on."""
