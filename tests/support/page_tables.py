"""The tables that the pages of the documentation assume, by page: `tests/unit/test_doc_blocks.py` plans the pages' statements
over them, `tests/unit/spark/test_doc_pages.py` runs them."""

from __future__ import annotations

TRIPS = "CREATE TABLE trips (started TIMESTAMP, driver STRING, fare DOUBLE, city STRING);"
RECEIVED = "CREATE TABLE received (id INT, price DOUBLE, shop STRING, page STRING);"

GIVEN = {
    "README.md": "CREATE TABLE edits (`time` TIMESTAMP, channel STRING, page STRING, added BIGINT);",
    "cost.md": "CREATE EXTERNAL TABLE t (`__time` TIMESTAMP, a STRING, b BIGINT) STORED BY 'druid';",
    "hive-ddl.md": (
        "CREATE TABLE trips (started TIMESTAMP, driver STRING, fare DECIMAL(10,2));"
        "CREATE EXTERNAL TABLE landing (amount DOUBLE) STORED AS TEXTFILE;"
    ),
    "iceberg.md": """\
CREATE TABLE drivers (name STRING, left_on DATE);
CREATE TABLE corrections (driver STRING, fare DOUBLE);
""",
    "kafka-tables.md": """\
CREATE EXTERNAL TABLE visits (`__time` TIMESTAMP, page STRING, added BIGINT) STORED BY 'druid';
CREATE TABLE wiki_rejects (topic STRING, `partition` INT, `offset` BIGINT, error STRING, value BINARY);
""",
    "load-data.md": """\
CREATE EXTERNAL TABLE sales (id INT, price DOUBLE) PARTITIONED BY (day DATE, shop STRING)
ROW FORMAT DELIMITED FIELDS TERMINATED BY ',';
CREATE EXTERNAL TABLE history (id INT, price DOUBLE) STORED AS ORC;
""",
    "materialized-views.md": """\
CREATE EXTERNAL TABLE ev (`__time` TIMESTAMP, country STRING, clicks BIGINT) STORED BY 'druid'
TBLPROPERTIES ('druid.rollup' = 'false');
""",
    "metastore.md": "CREATE EXTERNAL TABLE visits (`__time` TIMESTAMP, page STRING, views BIGINT) STORED BY 'druid';",
    "partitions.md": RECEIVED,
    "sketches.md": """\
CREATE TABLE events (at TIMESTAMP, page STRING, user_id BIGINT, device STRING, ms DOUBLE);
CREATE TABLE others (at TIMESTAMP, page STRING, users BINARY, seen BINARY, latency BINARY);
""",
    "streams.md": "CREATE TABLE bad_clicks (topic STRING, `partition` INT, `offset` BIGINT, error STRING, value BINARY);",
    "tables.md": """\
CREATE EXTERNAL TABLE trips_orc (started STRING, driver STRING, fare DECIMAL(10,2), tags STRING) STORED AS ORC;
CREATE EXTERNAL TABLE t (`__time` TIMESTAMP, city STRING, rides BIGINT) STORED BY 'druid';
""",
    "user-functions.md": """\
CREATE EXTERNAL TABLE trips (id BIGINT, city STRING, fare DOUBLE) STORED AS PARQUET;
CREATE EXTERNAL TABLE texts (id BIGINT, k STRING, body STRING) STORED AS PARQUET;
CREATE EXTERNAL TABLE visits (user_id BIGINT, at TIMESTAMP, page STRING) STORED AS PARQUET;
""",
}

NEEDS = {
    "README.md": "the embedded store does not ingest from Kafka",
    "data-sources.md": "the columns of the data source are read from Druid|Table not found clicks",
    "hive-ddl.md": "there are no files in /data/",
    "iceberg.md": "default.trips has no snapshot at|refers to the environment variable CATALOG_CREDENTIAL",
    "kafka-tables.md": "the embedded store does not ingest from Kafka",
    "load-data.md": "Invalid path '/incoming/",
    "metastore.md": "cannot reach the Hive metastore",
    "streams.md": "Stream not found click_stream",
    "tiered.md": "may be in Druid, where rows cannot be changed",
    "tutorial.md": "cannot read 'trips.csv': there is no such file|Table not found ",
    "user-functions.md": r"no Java class shop\.\w+ in the jars|no file /opt/functions/shop\.jar|unknown function '(longest|words)'",
}
"""What a statement of a page needs besides its tables: a service, files, or rows. Only its grammar is checked then."""
