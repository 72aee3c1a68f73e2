"""Whole Hive statements: their conversion, and that hivedruid accepts the result."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivedruid.errors import ParseError
from hivedruid.hive_ddl import Imported, import_script
from hivedruid.session import Session

DRUID = "STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler'"
KAFKA = "STORED BY 'org.apache.hadoop.hive.kafka.KafkaStorageHandler'"
TOPIC = "'kafka.topic'='t', 'kafka.bootstrap.servers'='b:9092'"


def one(text: str) -> Imported:
    (imported,) = import_script(text)
    return imported


def said(imported: Imported) -> list[tuple[str, str]]:
    return [(finding.kind, str(finding)) for finding in imported.findings]


def has(imported: Imported, kind: str, text: str) -> bool:
    return any(k == kind and text in found for k, found in said(imported))


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        (f"CREATE EXTERNAL TABLE t (`__time` TIMESTAMP, a STRING) {DRUID}", "a Druid table"),
        (
            f"CREATE EXTERNAL TABLE t (`__time` TIMESTAMP) {DRUID} TBLPROPERTIES ({TOPIC})",
            "a Druid table with Kafka ingestion",
        ),
        (f"CREATE EXTERNAL TABLE t {DRUID} TBLPROPERTIES ('druid.datasource'='x')", "a Druid table"),
        (f"CREATE EXTERNAL TABLE t {DRUID} AS SELECT ts AS `__time`, sum(x) s FROM u GROUP BY ts", "a Druid table"),
        (f"CREATE EXTERNAL TABLE t {DRUID} AS SELECT * FROM u", "a Druid table"),
        (f"CREATE EXTERNAL TABLE t (a int) {KAFKA} TBLPROPERTIES ({TOPIC})", "a Kafka table"),
        ("CREATE EXTERNAL TABLE t (a int) STORED AS PARQUET LOCATION '/x'", "an external table of files"),
        ("CREATE TABLE t STORED AS ORC AS SELECT 1 a", "a managed table"),
        ("INSERT INTO t SELECT 1", ""),
        ("SELECT 1", ""),
        ("SET hive.execution.engine=tez", ""),
        ("ALTER TABLE t UNSET TBLPROPERTIES ('a')", ""),
        ("CREATE VIEW v AS SELECT 1 a", ""),
        ("CREATE TABLE u LIKE t", ""),
        ("create external table t(a int)", "an external table of files"),
        (
            "CREATE TABLE t (a int) SKEWED BY (a) ON (1) CLUSTERED BY (a) INTO 2 BUCKETS STORED AS ORC",
            "a managed table",
        ),
        (
            "CREATE EXTERNAL TABLE t (a int) ROW FORMAT SERDE 'org.apache.hive.hcatalog.data.JsonSerDe'"
            " STORED AS INPUTFORMAT 'org.apache.hadoop.mapred.TextInputFormat' OUTPUTFORMAT 'o' LOCATION '/x'",
            "an external table of files",
        ),
    ],
)
def test_what_stays_as_it_is(text: str, summary: str) -> None:
    assert one(text) == Imported(one(text).source, text, (), summary)


@pytest.mark.parametrize(
    ("text", "now", "kind", "finding"),
    [
        (
            "CREATE EXTERNAL TABLE t (`__time` TIMESTAMP) STORED BY 'org.apache.hadoop.hive.druid.QTestDruidStorageHandler2'",
            f"CREATE EXTERNAL TABLE t (`__time` TIMESTAMP) {DRUID}",
            "changed",
            "QTestDruidStorageHandler2",
        ),
        (
            f"CREATE EXTERNAL TABLE t (`__time` TIMESTAMP)\nROW FORMAT SERDE 'x.DruidSerDe'\n{DRUID}\nLOCATION\n  'hdfs://x'",
            f"CREATE EXTERNAL TABLE t (`__time` TIMESTAMP)\n{DRUID}",
            "dropped",
            "LOCATION (deep storage is configured in Druid)",
        ),
        (
            f"CREATE EXTERNAL TABLE t (`__time` TIMESTAMP) {DRUID} WITH SERDEPROPERTIES ('serialization.format'='1')",
            f"CREATE EXTERNAL TABLE t (`__time` TIMESTAMP) {DRUID}",
            "dropped",
            "WITH SERDEPROPERTIES",
        ),
        (
            f"CREATE TABLE t (`__time` TIMESTAMP) {DRUID} TBLPROPERTIES ('EXTERNAL'='TRUE', 'a'='b')",
            f"CREATE EXTERNAL TABLE t (`__time` TIMESTAMP) {DRUID} TBLPROPERTIES (\n  'a'='b')",
            "changed",
            "it has the property EXTERNAL",
        ),
        (
            f"CREATE TABLE t (`__time` TIMESTAMP) {DRUID}",
            f"CREATE TABLE t (`__time` TIMESTAMP) {DRUID}",
            "note",
            "DROP TABLE deletes the data source",
        ),
        (
            f"CREATE EXTERNAL TABLE t (`__time` TIMESTAMP) {DRUID} TBLPROPERTIES ('numRows'='0')",
            f"CREATE EXTERNAL TABLE t (`__time` TIMESTAMP) {DRUID}",
            "dropped",
            "bookkeeping",
        ),
        (
            f"CREATE EXTERNAL TABLE t {DRUID} AS SELECT ts AS `___time`, a FROM u",
            f"CREATE EXTERNAL TABLE t {DRUID} AS SELECT ts AS `__time`, a FROM u",
            "changed",
            "`___time` is now `__time`",
        ),
        (
            f"CREATE TABLE t (a int, `__key` binary COMMENT 'x', `__partition` int) {KAFKA} LOCATION '/x' TBLPROPERTIES ({TOPIC})",
            f"CREATE EXTERNAL TABLE t (a int) {KAFKA}  TBLPROPERTIES ({TOPIC})",
            "dropped",
            "added to every Kafka table",
        ),
        (
            f"""CREATE EXTERNAL TABLE t {KAFKA} TBLPROPERTIES ({TOPIC}, 'avro.schema.literal'='{{"fields": [{{"name": "A", "type": "int"}}]}}')""",
            f"""CREATE EXTERNAL TABLE t (`a` INT) {KAFKA} TBLPROPERTIES ({TOPIC}, 'avro.schema.literal'='{{"fields": [{{"name": "A", "type": "int"}}]}}')""",
            "changed",
            "the columns are taken from avro.schema.literal",
        ),
        (
            "CREATE TABLE t (a int)\nROW FORMAT DELIMITED FIELDS TERMINATED BY ','\nNULL DEFINED AS ''\nSTORED AS LZOFILE",
            "CREATE TABLE t (a int)",
            "dropped",
            "STORED AS (managed tables are Iceberg tables",
        ),
        (
            "CREATE TABLE t (a int) STORED AS INPUTFORMAT 'org.x.OrcInputFormat' OUTPUTFORMAT 'o'\nLOCATION '/w/t'\n"
            "TBLPROPERTIES ('transactional'='true')",
            "CREATE TABLE t (a int) STORED AS INPUTFORMAT 'org.x.OrcInputFormat' OUTPUTFORMAT 'o'\nTBLPROPERTIES ('transactional'='true')",
            "dropped",
            "files of Hive's ACID tables cannot be read",
        ),
        (
            "ALTER TABLE t SET TBLPROPERTIES ('druid.kafka.ingestion.taskDuration' = 'PT1S', 'b' = 'c')",
            "ALTER TABLE t SET TBLPROPERTIES (\n  'druid.kafka.ingestion.taskDuration' = 'PT1M',\n  'b' = 'c')",
            "changed",
            "'PT1M'",
        ),
        (
            "SET hive.druid.broker.address.default=h:8082",
            "SET druid.url=http://h:8082",
            "changed",
            "druid.url",
        ),
        (
            "SET hive.druid.overlord.address.default=https://h:8290",
            "SET druid.overlord.url=https://h:8290",
            "changed",
            "druid.overlord.url",
        ),
    ],
)  # fmt: skip
def test_what_is_rewritten(text: str, now: str, kind: str, finding: str) -> None:
    imported = one(text)
    assert imported.text == now
    assert has(imported, kind, finding)


def test_the_clauses_of_a_database_are_kept() -> None:
    imported = one("CREATE DATABASE d COMMENT 'x' LOCATION 'hdfs://x' WITH DBPROPERTIES ('a'='b')")
    assert (imported.text, imported.findings) == (imported.source.text, ())


def test_a_managed_table_with_a_location_is_kept_with_a_note() -> None:
    imported = one("CREATE TABLE t (a int) STORED AS ORC LOCATION '/w/t'")
    assert imported.text == imported.source.text
    assert has(imported, "note", "DROP TABLE deletes its files")


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("ADD ARCHIVE /x.zip", "archives are not unpacked"),
        ("ALTER TABLE t CONCATENATE", "CONCATENATE has no effect"),
        ("SHOW LOCKS", "no table locks"),
        ("ALTER TABLE t SET TBLPROPERTIES ('druid.kafka.ingestion.chatThreads'='3')", "chatThreads"),
        ("SET hive.druid.metadata.password=hunter2", "the metadata database is not accessed"),
        ("SET javax.jdo.option.ConnectionPassword=hunter2", "its value is a secret"),
        ("SET hive.druid.rolup=true", "did you mean 'hive.druid.rollup'?"),
        ("SET hive.druid.broker.address.default=http:///", "its value is not a valid address"),
    ],
)
def test_what_is_left_out(text: str, finding: str) -> None:
    imported = one(text)
    assert imported.text == ""
    assert has(imported, "dropped", finding)
    assert "hunter2" not in str(said(imported))


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        (f"CREATE EXTERNAL TABLE t (`__time` TIMESTAMP) PARTITIONED BY (d string) {DRUID}", "PARTITIONED BY may not be specified"),
        (f"CREATE EXTERNAL TABLE t (`__time` TIMESTAMP, a int) CLUSTERED BY (a) INTO 2 BUCKETS {DRUID}", "CLUSTERED BY may not"),
        (f"CREATE EXTERNAL TABLE t (`__time` TIMESTAMP, ts TIMESTAMP) {DRUID}", "Druid supports only one time column"),
        (f"CREATE EXTERNAL TABLE t (`__time` STRING) {DRUID}", "must be timestamp"),
        (f"CREATE EXTERNAL TABLE t (a int) {DRUID}", "__time"),
        (f"CREATE EXTERNAL TABLE t {DRUID} AS SELECT a, b FROM u", "__time"),
        (f"CREATE EXTERNAL TABLE t {DRUID}", "druid.datasource"),
        (f"CREATE EXTERNAL TABLE t (`__time` TIMESTAMP) {DRUID} TBLPROPERTIES ('kafka.topic'='t')", "kafka.bootstrap.servers"),
        (f"CREATE EXTERNAL TABLE t (`__time` TIMESTAMP, a INT, a INT) {DRUID}", "Duplicate column name a"),
        (f"CREATE EXTERNAL TABLE t (`__time` TIMESTAMP) {DRUID} TBLPROPERTIES ({TOPIC}, 'druid.kafka.ingestion.replicas'='')", "an integer"),
        ("CREATE EXTERNAL TABLE t (a int) PARTITIONED BY SPEC (a) LOCATION '/x'", "PARTITIONED BY SPEC is not supported"),
        ("CREATE EXTERNAL TABLE t (a int) STORED AS RCFILE LOCATION '/x'", "STORED AS RCFILE"),
        ("CREATE TABLE t (a int) STORED BY 'org.apache.hive.storage.jdbc.JdbcStorageHandler'", "not supported"),
        ("CREATE MATERIALIZED VIEW v PARTITIONED ON (a) AS SELECT 1 AS a", "PARTITIONED ON"),
        ("ALTER TABLE t DROP COLUMN a", "not for DROP COLUMN"),
        ("CREATE TABLE t (a int", "found the end of the statement"),
        ("SELEC 1", "did you mean 'SELECT'?"),
        ("!ls", "shell"),
        ("SET a b", "SET key=value"),
    ],
)  # fmt: skip
def test_what_cannot_be_mapped_has_its_reason(text: str, finding: str) -> None:
    imported = one(text)
    assert imported.text is None
    assert has(imported, "refused", finding)


@pytest.mark.parametrize(
    ("kind", "finding"),
    [
        (
            "index_hadoop",
            "a spec of Druid with type 'index_hadoop', a type that Druid 37 removed; declare its files with",
        ),
        ("index_parallel", "a spec of Druid with type 'index_parallel'; declare its files with CREATE EXTERNAL TABLE"),
        ("kafka", "a spec of Druid with type 'kafka'; declare its topic with CREATE EXTERNAL TABLE"),
        ("other", "a spec of Druid with type 'other'"),
    ],
)
def test_specs_of_druid_are_no_statements(kind: str, finding: str) -> None:
    imported = one(f'{{"type": "{kind}", "spec": {{"dataSchema": {{"dataSource": "a;b"}}}}}}')
    assert imported.text is None
    assert has(imported, "refused", finding)


def test_other_json_is_no_spec() -> None:
    assert has(one('{"a": 1}'), "refused", "expected a statement")
    assert has(one("{ SELECT 1"), "refused", "expected a statement")


def test_fields_with_capitals_get_a_hint() -> None:
    columns = "`__time` TIMESTAMP, newPage boolean, `cityName` string, page string"
    imported = one(f"CREATE EXTERNAL TABLE t ({columns}) {DRUID} TBLPROPERTIES ({TOPIC})")
    assert has(imported, "note", "'druid.columns.mapping' = 'newPage:newpage, cityName:cityname'")
    given = f"{TOPIC}, 'druid.columns.mapping'='newPage:newpage'"
    assert one(f"CREATE EXTERNAL TABLE t ({columns}) {DRUID} TBLPROPERTIES ({given})").findings == ()
    csv = f"{TOPIC}, 'druid.parseSpec.format'='csv', 'druid.parseSpec.columns'='__time,newPage'"
    assert one(f"CREATE EXTERNAL TABLE t ({columns}) {DRUID} TBLPROPERTIES ({csv})").findings == ()
    assert one(f"CREATE EXTERNAL TABLE t ({columns}) {DRUID}").findings == ()


def test_alter_is_checked_against_the_table_of_the_script() -> None:
    text = f"""
    USE d;
    CREATE EXTERNAL TABLE t (`__time` TIMESTAMP) {DRUID} TBLPROPERTIES ({TOPIC});
    ALTER TABLE d.t SET TBLPROPERTIES ('druid.parseSpec.format'='csv', 'druid.parseSpec.columns'='__time,a');
    ALTER TABLE t SET TBLPROPERTIES ('druid.parseSpec.columns'='a');
    ALTER TABLE other SET TBLPROPERTIES ('druid.parseSpec.columns'='a');
    CREATE EXTERNAL TABLE files (a int) LOCATION '/x';
    ALTER TABLE files SET TBLPROPERTIES ('druid.parseSpec.columns'='a');
    """
    outcomes = [imported.text if imported.text in (None, "") else "kept" for imported in import_script(text)]
    assert outcomes == ["kept", "kept", "kept", None, "kept", "kept", ""]


def test_variables_are_left_for_the_run() -> None:
    for text in (
        "CREATE TABLE ${db}.t (a int)",
        f"CREATE EXTERNAL TABLE t (a int) {KAFKA} TBLPROPERTIES ('${{x}}'='y')",
    ):
        imported = one(text)
        assert imported.text == text
        assert has(imported, "note", "not checked because it contains variables")


@pytest.mark.parametrize(
    "text",
    [
        f"CREATE EXTERNAL TABLE t (`__time` TIMESTAMP) {DRUID} TBLPROPERTIES ({TOPIC}, "
        "'druid.kafka.ingestion.consumer.sasl.jaas.config'='x required password=\"hunter2\";')",
        f"CREATE EXTERNAL TABLE t (`__time` TIMESTAMP) {DRUID} TBLPROPERTIES ({TOPIC}, "
        '\'druid.kafka.ingestion.inputFormat\'=\'{"type":"json","password":"hunter2"}\')',
        f"CREATE EXTERNAL TABLE t (a int) {KAFKA} WITH SERDEPROPERTIES ('x.password'='hunter2') TBLPROPERTIES ({TOPIC})",
        "CREATE TABLE ${db}.t (a int) TBLPROPERTIES ('x.password'='hunter2')",
        "CREATE VIEW v TBLPROPERTIES ('x.password'='hunter2') AS SELECT 1",
        "CREATE TABLE t (a int) STORED BY 'x.JdbcStorageHandler' TBLPROPERTIES ('hive.sql.dbcp.password'='hunter2')",
        "ALTER TABLE t SET TBLPROPERTIES ('x.password'='hunter2', 'druid.kafka.ingestion.replicas'='many')",
        "ALTER TABLE t SET TBLPROPERTIES ('druid.kafka.ingestion.autoScalerConfig'='{\"password\":\"hunter2\"')",
    ],
)
def test_no_secret_is_in_what_becomes_of_a_statement(text: str) -> None:
    imported = one(text)
    assert "hunter2" not in f"{imported.text} {said(imported)}"


OURS = [
    f"CREATE EXTERNAL TABLE t (`__time` timestamp, a string) {DRUID} TBLPROPERTIES ('druid.segment.granularity'='DAY')",
    f"CREATE TABLE `d1`.`t` (`__time` timestamp, a string)\n{DRUID}\nLOCATION 'hdfs://x'\nTBLPROPERTIES (\n 'numRows'='0',\n {TOPIC})",
    f"CREATE TABLE t (a int, `__key` binary) {KAFKA} TBLPROPERTIES ({TOPIC}, 'numRows'='0')",
    "CREATE TABLE t (a int) ROW FORMAT DELIMITED STORED AS TEXTFILE",
    "CREATE TABLE t (a int) STORED AS INPUTFORMAT 'x.MapredParquetInputFormat' OUTPUTFORMAT 'y' LOCATION '/tmp/x'",
]


def test_hivedruid_takes_what_comes_out(tmp_path: Path) -> None:
    assert run_imported(OURS, tmp_path) >= len(OURS)


def run_imported(texts: Iterable[str], folder: Path) -> int:
    """Run the conversion of each text in a separate home; returns the number of statements."""
    ran = 0
    for number, text in enumerate(texts):
        with Session(folder / str(number)) as session:
            for statement in session.statements("CREATE DATABASE d1"):
                session.execute(statement)
            for imported in import_script(text):
                for statement in session.statements(imported.text or ""):
                    session.execute(statement)
                    ran += 1
    return ran


@pytest.mark.parametrize("text", OURS)
def test_what_comes_out_is_not_changed_again(text: str) -> None:
    first = one(text).text
    assert first
    again = one(first)
    assert again.text == first
    assert {finding.kind for finding in again.findings} <= {"note"}


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(OURS), st.data())
def test_damaged_statements_are_told_of(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 20)))
    junk = data.draw(
        st.sampled_from(["", "(", ")", "'", "`", ";", "--", "/*", "=", ",", "CREATE TABLE", "\n", "\x00", "${x}", "<"])
    )
    found: list[Imported] = []
    unclosed: ParseError | None = None
    try:
        found += import_script(text[:start] + junk + text[end:])
    except ParseError as error:
        unclosed = error
    assert unclosed is None or unclosed.span is not None
    for imported in found:
        assert imported.text is not None or any(finding.kind == "refused" for finding in imported.findings)
