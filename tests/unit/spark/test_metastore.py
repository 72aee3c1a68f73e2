"""Tables of a real Hive metastore beside those of the home."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from time import monotonic

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet
import pytest

from hivedruid.errors import ConnectError, ExecutionError, HiveDruidError, SemanticError, UnsupportedError
from hivedruid.iceberg import home_catalog
from hivedruid.operations.partitions import PartitionJob
from hivedruid.operations.store import Operations
from hivedruid.repl.completion import Names, complete
from hivedruid.repl.elsewhere import NamesElsewhere
from hivedruid.session import Session
from tests.support import killed
from tests.support.hive_metastore import ORC, Hive, fill, hive_metastore, make_iceberg, names, plan, run, write

pytestmark = pytest.mark.spark
NOBODY = "thrift://127.0.0.1:1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("metastore")


@pytest.fixture(scope="module")
def uri(folder: Path) -> Iterator[str]:
    with hive_metastore(folder) as uri:
        hive = Hive(uri)
        fill(hive, folder / "data")
        hive.close()
        yield uri


@pytest.fixture
def hive(uri: str) -> Iterator[Hive]:
    opened = Hive(uri)
    yield opened
    opened.close()


@pytest.fixture
def session(tmp_path: Path, uri: str) -> Iterator[Session]:
    with Session(tmp_path / "home", hiveconf={"hive.metastore.uris": uri}) as opened:
        yield opened


def test_names(session: Session) -> None:
    assert names(session, "SHOW DATABASES") == ["default", "sales"]
    assert names(session, "SHOW TABLES IN sales") == ["acid", "adults", "days", "parq", "people"]
    assert names(session, "SHOW VIEWS IN sales") == ["adults"]
    assert run(session, "DESCRIBE DATABASE sales") == [("sales", "of Hive")]
    run(session, "USE sales")
    assert run(session, "DESCRIBE people") == [("name", "string", ""), ("age", "int", "")]
    assert ("", "team", "a") in run(session, "DESCRIBE FORMATTED people")
    assert "field.delim" in str(names(session, "SHOW CREATE TABLE people"))
    assert names(session, "SHOW PARTITIONS days") == ["d=2024-01-01/k=1", "d=2024-01-02/k=2", "d=2024-01-03/k=3"]
    with pytest.raises(SemanticError, match="Database does not exist: nowhere"):
        run(session, "USE nowhere")
    with pytest.raises(SemanticError, match="Table not found nothing"):
        run(session, "SELECT * FROM nothing")


def test_rows(session: Session) -> None:
    assert run(session, "SELECT * FROM sales.people ORDER BY name") == [("ann", 30), ("bob", None)]
    assert run(session, "SELECT * FROM sales.adults") == [("ann", 31)]
    assert run(session, "SELECT v FROM sales.parq WHERE a = 2") == [("y",)]
    run(session, "CREATE TABLE mine AS SELECT name, age FROM sales.people")
    joined = "SELECT p.name, m.age FROM sales.people p JOIN mine m ON p.name = m.name WHERE m.age > 1"
    assert run(session, joined) == [("ann", 30)]


def test_partitions_of_several_places_and_formats(session: Session) -> None:
    assert run(session, "SELECT * FROM sales.days ORDER BY n") == [
        (1, "2024-01-01", 1), (2, "2024-01-02", 2), (3, "2024-01-03", 3), (10, "2024-01-01", 1), (20, "2024-01-02", 2),
    ]  # fmt: skip
    assert run(session, "SELECT sum(n) FROM sales.days WHERE d > '2024-01-01' AND k < 3") == [(22,)]
    both = "SELECT a.n FROM sales.days a WHERE a.n IN (SELECT max(b.n) FROM sales.days b WHERE b.k = 1)"
    assert run(session, both) == [(10,)]


def test_the_metastore_leaves_out_partitions(session: Session) -> None:
    text = plan(session, "SELECT n FROM sales.days WHERE d >= '2024-01-02' AND k = 2 AND n <> 7")
    assert 'partitions: 1 of 1 that the metastore has for d >= "2024-01-02" and k = 2' in text
    assert "partitions: 2 of 3" in plan(session, "SELECT n FROM sales.days WHERE k <> 2")


def test_iceberg_druid_and_kafka_tables(session: Session, hive: Hive) -> None:
    metadata = make_iceberg(session, hive)
    run(session, "CREATE EXTERNAL TABLE wiki (`__time` timestamp, page string, n bigint) STORED BY 'druid'")
    run(session, "INSERT INTO wiki VALUES (timestamp '2024-01-01 00:00:00', 'a', 1)")
    druid = {"storage_handler": "org.apache.hadoop.hive.druid.DruidStorageHandler", "druid.datasource": "default.wiki"}
    hive.create_table(
        "sales.wiki", "__time timestamp, page string, n bigint", session.home / "wiki", "", properties=druid
    )
    kafka = {"storage_handler": "org.apache.hadoop.hive.kafka.KafkaStorageHandler", "kafka.topic": "t",
             "kafka.bootstrap.servers": "127.0.0.1:1"}  # fmt: skip
    hive.create_table("sales.topic", "id int", session.home / "topic", "", properties=kafka)
    try:
        assert run(session, "SELECT * FROM sales.ice ORDER BY a") == [(1, "x"), (2, "y")]
        run(session, "INSERT INTO sales.ice SELECT a + 10, s FROM sales.ice")
        assert run(session, "SELECT * FROM sales.ice ORDER BY a") == [(1, "x"), (2, "y"), (11, "x"), (12, "y")]
        assert run(session, "SELECT count(*) FROM ice") == [(2,)]
        run(session, "INSERT OVERWRITE TABLE sales.ice SELECT 5, 'z'")
        assert run(session, "SELECT * FROM sales.ice") == [(5, "z")]
        table = session.facts().names.find("sales", "ice")
        metastore = session.facts().names.metastore
        assert table is not None
        assert metastore is not None
        with pytest.raises(ExecutionError, match=r"another program changed sales\.ice"):
            metastore.commit_iceberg(table, f"file:{metadata}", "file:/nowhere")
        assert run(session, "SELECT * FROM sales.ice") == [(5, "z")]
        assert run(session, "SELECT page, sum(n) FROM sales.wiki GROUP BY page") == [("a", 1)]
        assert '"queryType": "groupBy"' in plan(session, "SELECT page, sum(n) FROM sales.wiki GROUP BY page")
        assert ("kafka.topic", "t") in run(session, "SHOW TBLPROPERTIES sales.topic")
        assert names(session, "SHOW COLUMNS IN sales.topic") == [
            "id", "__key", "__partition", "__offset", "__timestamp",
        ]  # fmt: skip
    finally:
        for name in ("ice", "wiki", "topic"):
            hive.drop_table(f"sales.{name}")


def test_rows_of_iceberg_tables_change(session: Session, hive: Hive) -> None:
    make_iceberg(session, hive)
    try:
        run(session, "UPDATE sales.ice SET s = concat(s, '!') WHERE a = (SELECT max(a) FROM sales.ice)")
        run(session, "INSERT INTO sales.ice VALUES (3, NULL), (4, 'w')")
        run(session, "DELETE FROM sales.ice WHERE s IS NULL")
        location = hive.table("sales.ice").parameters["metadata_location"]
        run(session, "EXPLAIN DELETE FROM sales.ice; DELETE FROM sales.ice WHERE a > 100")
        run(session, "DELETE FROM sales.ice WHERE false; UPDATE sales.ice SET s = 'x' WHERE s = 'nobody'")
        run(session, "INSERT INTO sales.ice SELECT * FROM sales.ice WHERE a > 100")
        assert hive.table("sales.ice").parameters["metadata_location"] == location
        run(
            session,
            "MERGE INTO sales.ice t USING (SELECT a + 2 AS a, s FROM sales.ice) n ON t.a = n.a"
            " WHEN MATCHED AND n.s = 'x' THEN DELETE WHEN MATCHED THEN UPDATE SET s = n.s"
            " WHEN NOT MATCHED THEN INSERT VALUES (n.a, 'new')",
        )
        assert run(session, "SELECT * FROM sales.ice ORDER BY a") == [
            (1, "x"), (2, "y!"), (3, "new"), (4, "y!"), (6, "new"),
        ]  # fmt: skip
        assert home_catalog.names(session.home, "metastore_") == []
        assert run(session, "SELECT count(*) FROM ice") == [(2,)]
    finally:
        hive.drop_table("sales.ice")


@pytest.mark.parametrize(
    ("statement", "moment", "expected"),
    [
        ("UPDATE sales.ice SET s = 'new'", "change_rows", ["x", "y"]),
        ("UPDATE sales.ice SET s = 'new'", "commit_iceberg", ["new", "new"]),
        ("INSERT OVERWRITE TABLE sales.ice SELECT 7, 'new'", "append_or_replace", ["x", "y"]),
    ],
)
def test_a_killed_write_to_an_iceberg_table_leaves_old_or_new(
    tmp_path: Path, uri: str, hive: Hive, statement: str, moment: str, expected: list[str]
) -> None:
    settings, noted = {"hive.metastore.uris": uri}, list[str]()
    with Session(tmp_path, hiveconf=settings) as session:
        make_iceberg(session, hive)
    try:
        outcome = killed.run(tmp_path, settings, statement, moment)
        assert (outcome.killed, outcome.error) == (True, ""), outcome
        with Session(tmp_path, hiveconf=settings, note=noted.append) as session:
            assert names(session, "SELECT s FROM sales.ice ORDER BY a") == expected
            assert len(home_catalog.names(tmp_path, "metastore_")) == 1
            run(session, "DELETE FROM sales.ice WHERE a = 1")
            assert names(session, "SELECT s FROM sales.ice") == expected[1:]
            assert [text for text in noted if "a write that was killed may have left files in" in text] == noted
            assert len(noted) == 1
            assert home_catalog.names(tmp_path, "metastore_") == []
    finally:
        hive.drop_table("sales.ice")


def test_secrets_in_its_properties_are_not_shown_or_copied(session: Session, hive: Hive) -> None:
    secret = "xyzzy-plugh-4711"
    properties = {
        "storage_handler": "org.apache.hadoop.hive.kafka.KafkaStorageHandler", "kafka.topic": "t",
        "kafka.bootstrap.servers": "127.0.0.1:1", "kafka.consumer.ssl.keystore.password": secret,
    }  # fmt: skip
    hive.create_table("sales.secret", "id int", session.home / "topic", "", properties=properties)
    try:
        for text in (
            "DESCRIBE EXTENDED",
            "DESCRIBE FORMATTED",
            "SHOW CREATE TABLE",
            "SHOW TBLPROPERTIES",
            "EXPLAIN SELECT * FROM",
        ):
            assert secret not in str(run(session, f"{text} sales.secret"))
        with pytest.raises(SemanticError, match="is a secret, which would be stored in plain text") as caught:
            run(session, "CREATE EXTERNAL TABLE mine LIKE sales.secret")
        assert secret not in f"{caught.value.message} {caught.value.hint}"
    finally:
        hive.drop_table("sales.secret")


@pytest.mark.parametrize(
    "text",
    [
        "DROP TABLE sales.people",
        "DROP VIEW sales.adults",
        "ALTER TABLE sales.people SET TBLPROPERTIES ('a'='b')",
        "ALTER TABLE sales.people RENAME TO sales.persons",
        "ALTER TABLE sales.days DROP PARTITION (k = 1)",
        "MSCK REPAIR TABLE sales.days",
        "TRUNCATE TABLE sales.people",
        "ANALYZE TABLE sales.people COMPUTE STATISTICS",
        "CREATE OR REPLACE VIEW sales.adults AS SELECT 1 AS a",
        "ALTER VIEW sales.adults AS SELECT 1 AS a",
        "DELETE FROM sales.people WHERE age = 1",
        "MERGE INTO sales.people AS t USING sales.parq s ON t.age = s.a WHEN MATCHED THEN DELETE",
        "ALTER TABLE sales.people COMPACT 'major'",
        "CREATE TABLE sales.more (a int)",
        "CREATE VIEW sales.more AS SELECT 1 AS a",
        "ALTER DATABASE sales SET DBPROPERTIES ('a'='b')",
        "DROP DATABASE sales CASCADE",
    ],
)
def test_statements_that_would_change_it_are_refused(session: Session, text: str) -> None:
    for form in (text, f"EXPLAIN {text}"):
        with pytest.raises(UnsupportedError, match="in the Hive metastore thrift://") as caught:
            run(session, form)
        assert caught.value.span is not None
        assert caught.value.hint


def test_a_materialized_view_over_its_tables_is_refused(session: Session) -> None:
    with pytest.raises(UnsupportedError, match=r"cannot read sales\.people, which is in a Hive metastore"):
        run(session, "CREATE MATERIALIZED VIEW m AS SELECT name FROM sales.people")


def test_an_acid_table_says_why_it_cannot_be_read(session: Session) -> None:
    assert run(session, "DESCRIBE sales.acid") == [("a", "int", "")]
    with pytest.raises(UnsupportedError, match=r"cannot read sales\.acid: it is an ACID table") as caught:
        run(session, "SELECT * FROM sales.acid")
    assert caught.value.span is not None


def test_the_home_comes_first(session: Session, uri: str) -> None:
    run(session, f"SET hive.metastore.uris={NOBODY}; CREATE TABLE people (mine string); SET hive.metastore.uris={uri}")
    assert names(session, "DESCRIBE people") == ["mine"]
    run(session, "DROP TABLE people")
    assert names(session, "DESCRIBE people") == ["x"]
    with pytest.raises(SemanticError, match=r"Table default\.people already exists in the Hive metastore"):
        run(session, "CREATE TABLE people (mine string)")
    run(session, "CREATE TEMPORARY TABLE people (temp int)")
    assert names(session, "DESCRIBE people") == ["temp"]


def test_a_database_of_both(session: Session) -> None:
    run(session, "CREATE DATABASE sales; CREATE TABLE sales.own AS SELECT 1 AS a")
    assert names(session, "SHOW TABLES IN sales") == ["acid", "adults", "days", "own", "parq", "people"]
    assert run(session, "SELECT count(*) FROM sales.own, sales.people") == [(2,)]
    run(session, "DROP DATABASE sales CASCADE")
    assert names(session, "SHOW TABLES IN sales") == ["acid", "adults", "days", "parq", "people"]


def test_a_table_like_one_of_the_metastore(session: Session) -> None:
    run(session, "CREATE TABLE liked LIKE sales.days; INSERT INTO liked VALUES (1, 'd', 2)")
    assert run(session, "SELECT * FROM liked") == [(1, "d", 2)]


def test_without_a_metastore_the_tables_of_the_home_remain(tmp_path: Path) -> None:
    with Session(tmp_path, hiveconf={"hive.metastore.uris": NOBODY}) as session:
        run(session, "CREATE TABLE t (a int); DROP TABLE IF EXISTS u; EXPLAIN SELECT a FROM t")
        assert run(session, "DESCRIBE t") == [("a", "int", "")]
        for text in ("SELECT * FROM u", "SELECT * FROM sales.people", "SHOW DATABASES", "SHOW TABLES", "USE sales"):
            with pytest.raises(ConnectError, match=f"cannot reach the Hive metastore {NOBODY}") as caught:
                run(session, text)
            assert "hive.metastore.uris" in (caught.value.hint or "")
        run(session, "SET hive.metastore.uris=")
        assert names(session, "SHOW TABLES") == ["t"]


def test_a_metastore_that_was_restarted(tmp_path: Path) -> None:
    with ExitStack() as running, Session(tmp_path / "home") as session:
        uri = running.enter_context(hive_metastore(tmp_path))
        run(session, f"SET hive.metastore.uris={uri}")
        assert names(session, "SHOW DATABASES") == ["default"]
        running.close()
        running.enter_context(hive_metastore(tmp_path, int(uri.rpartition(":")[2])))
        assert names(session, "SHOW DATABASES") == ["default"]


def candidates(session: Session, elsewhere: NamesElsewhere, text: str) -> list[str]:
    return [each.text for each in complete(text, len(text), Names(session, elsewhere))[1]]


def test_completion_has_its_names(session: Session) -> None:
    elsewhere = NamesElsewhere(session.settings)
    deadline = monotonic() + 60
    for text, name in (("SELECT * FROM sal", "sales"), ("SELECT * FROM sales.peo", "people")):
        while name not in candidates(session, elsewhere, text):
            assert monotonic() < deadline
    assert candidates(session, elsewhere, "SELECT * FROM sales.nothing") == []


def test_insert_into_files(session: Session, hive: Hive, folder: Path) -> None:
    """Hive returns count(*) from statistics: those that rows make wrong are removed."""
    place = folder / "data" / "written"
    write(place / "a.txt", "1,a\n")
    accurate = {"COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}', "numRows": "1", "team": "a"}
    hive.create_table(
        "sales.written", "n int, s string", place, serde_properties={"field.delim": ","}, properties=accurate
    )
    try:
        run(session, "INSERT INTO sales.written SELECT a + 1, v FROM sales.parq")
        assert run(session, "SELECT * FROM sales.written ORDER BY n") == [(1, "a"), (2, "x"), (3, "y")]
        assert {"COLUMN_STATS_ACCURATE", "numRows"}.isdisjoint(hive.table("sales.written").parameters)
        assert hive.table("sales.written").parameters["team"] == "a"
        run(session, "INSERT OVERWRITE TABLE sales.written VALUES (7, 'z')")
        assert run(session, "SELECT * FROM sales.written") == [(7, "z")]
    finally:
        hive.drop_table("sales.written")


def test_insert_into_partitions(session: Session, hive: Hive, folder: Path) -> None:
    place = folder / "data" / "parted"
    place.mkdir()
    hive.create_table("sales.parted", "n int", place, ORC, partitioned_by="d string, k int")
    elsewhere = folder / "data" / "moved"
    elsewhere.mkdir()
    hive.add_partition("sales.parted", "old", "1", location=elsewhere, serde=ORC, columns="n int")
    write(folder / "data" / "text" / "a.txt", "9\n")
    hive.add_partition("sales.parted", "text", "1", location=folder / "data" / "text", columns="n int")
    try:
        run(session, "INSERT INTO sales.parted PARTITION (d, k) VALUES (1, 'new', 2), (2, 'old', 1), (3, 'a/b', 3)")
        assert hive.partitions("sales.parted") == ["d=a%2Fb/k=3", "d=new/k=2", "d=old/k=1", "d=text/k=1"]
        assert [path.suffix for path in elsewhere.glob("[!.]*")] == [".orc"]
        assert run(session, "SELECT * FROM sales.parted ORDER BY n") == [
            (1, "new", 2), (2, "old", 1), (3, "a/b", 3), (9, "text", 1),
        ]  # fmt: skip
        run(session, "INSERT OVERWRITE TABLE sales.parted PARTITION (d = 'new', k = 2) SELECT 5")
        assert run(session, "SELECT n FROM sales.parted WHERE d = 'new'") == [(5,)]
        with pytest.raises(UnsupportedError, match="its files have another format"):
            run(session, "INSERT INTO sales.parted PARTITION (d = 'text', k = 1) SELECT 5")
        assert {row[3] for row in run(session, "SHOW JOBS")} == {"done"}
    finally:
        hive.drop_table("sales.parted")


def test_tables_that_insert_refuses(session: Session, hive: Hive, folder: Path) -> None:
    hive.create_table("sales.bucketed", "a int", folder / "data" / "bucketed", ORC, buckets=2)
    try:
        for name, reason in (("acid", "it is an ACID table"), ("bucketed", "its rows are divided into buckets")):
            with pytest.raises(UnsupportedError, match=f"cannot insert into sales.{name} .*: {reason}") as caught:
                run(session, f"INSERT INTO sales.{name} VALUES (1)")
            assert caught.value.span is not None
    finally:
        hive.drop_table("sales.bucketed")


def test_an_interrupted_insert_waits_for_the_metastore(session: Session, hive: Hive, folder: Path, uri: str) -> None:
    place = folder / "data" / "interrupted"
    staged = place / ".staged-s1" / "d=x" / "a.txt"
    write(staged, "5\n")
    hive.create_table("sales.interrupted", "n int", place, partitioned_by="d string")
    table = session._catalogs.renewed().find("sales", "interrupted")
    assert table is not None
    job = PartitionJob(
        id="t_1", statement_id="s1", statement="INSERT INTO", database="sales", table="interrupted",
        table_id=table.table_id, druid="embedded:", text="", state="moving", staged=str(staged.parent.parent),
        moves=((("x",), "d=x", f"{place}/d=x"),),
    )  # fmt: skip
    Operations(session.catalog).begin([job])
    try:
        run(session, f"CREATE EXTERNAL TABLE mine (a string) LOCATION '{folder}/data/people'")
        for address in (NOBODY, ""):
            run(session, f"SET hive.metastore.uris={address}")
            assert run(session, "SELECT count(*) FROM mine") == [(2,)]
            assert staged.exists()
        run(session, f"SET hive.metastore.uris={uri}")
        assert run(session, "SELECT * FROM sales.interrupted") == [(5, "x")]
        assert hive.partitions("sales.interrupted") == ["d=x"]
    finally:
        hive.drop_table("sales.interrupted")


def test_tables_that_are_created_there(session: Session, hive: Hive, folder: Path) -> None:
    run(session, "SET hivedruid.catalog=metastore; CREATE DATABASE made COMMENT 'here'; USE made")
    place = folder / "data" / "made"
    run(
        session,
        f"CREATE EXTERNAL TABLE o (a int COMMENT 'x', b struct<x:int,y:array<string>>) COMMENT 'c' PARTITIONED BY (k string)"
        f" STORED AS ORC LOCATION '{place}/o';"
        f"CREATE EXTERNAL TABLE c (a int, b string) ROW FORMAT DELIMITED FIELDS TERMINATED BY '|' LOCATION '{place}/c';"
        "CREATE VIEW v AS SELECT a FROM c;"
        "CREATE EXTERNAL TABLE w (`__time` timestamp, s string) STORED BY 'druid'",
    )
    run(session, "INSERT INTO o SELECT 1, named_struct('x', 1, 'y', array('q')), 'k1'; INSERT INTO c VALUES (1, 'x')")
    assert run(session, "SELECT o.a, o.k, c.b FROM o JOIN c ON o.a = c.a") == [(1, "k1", "x")]
    assert run(session, "SELECT a FROM v") == [(1,)]
    assert [session.catalog.table_names(name) for name in ("made", "default")] == [(), ()]
    stored = hive.table("made.o")
    assert (stored.tableType, stored.parameters["comment"]) == ("EXTERNAL_TABLE", "c")
    assert hive.table("made.c").sd.serdeInfo.parameters == {"field.delim": "|", "serialization.format": "|"}
    assert hive.table("made.w").parameters["druid.datasource"] == "made.w"
    assert hive.table("made.v").viewExpandedText == "SELECT a FROM `made`.c"
    with Session(
        folder / "another", hiveconf={"hive.metastore.uris": session.settings["hive.metastore.uris"]}
    ) as other:
        assert run(other, "SELECT b FROM made.c") == [("x",)]
        with pytest.raises(UnsupportedError, match=r"cannot change made\.c"):
            run(other, "DROP TABLE made.c")
    with pytest.raises(SemanticError, match="Database made is not empty"):
        run(session, "DROP DATABASE made")
    run(session, "DROP VIEW v; DROP TABLE o; DROP TABLE c; DROP TABLE w; DROP DATABASE made")
    assert names(session, "SHOW DATABASES") == ["default", "sales"]
    assert list((place / "c").glob("part-*")) != []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("CREATE TABLE m (a int)", "the catalog of managed tables is that of the home"),
        ("CREATE TABLE m AS SELECT 1 AS a", "the catalog of managed tables is that of the home"),
        ("CREATE TABLE m (`__time` timestamp) STORED BY 'druid'", "only external tables are created there"),
        (
            "CREATE EXTERNAL TABLE m STORED BY 'druid' AS SELECT timestamp '2024-01-01 00:00:00' AS `__time`",
            "AS SELECT",
        ),
        ("CREATE EXTERNAL TABLE nowhere.m (a int) LOCATION '/x'", "Database does not exist in the Hive metastore"),
        ("CREATE DATABASE sales", "Database sales already exists"),
        ("DROP DATABASE sales CASCADE", "CASCADE is not supported in a Hive metastore"),
    ],
)
def test_what_is_not_created_there(session: Session, text: str, reason: str) -> None:
    run(session, "SET hivedruid.catalog=metastore")
    for form in (text, f"EXPLAIN {text}"):
        with pytest.raises(HiveDruidError, match=reason):
            run(session, form)


def test_a_dry_run_creates_nothing(tmp_path: Path, uri: str) -> None:
    settings = {"hive.metastore.uris": uri, "hivedruid.catalog": "metastore"}
    with Session(tmp_path / "home", hiveconf=settings, dry_run=True) as session:
        run(
            session,
            "CREATE DATABASE dry; CREATE EXTERNAL TABLE sales.dry (a int) LOCATION '/x'; DROP TABLE sales.people",
        )
        assert names(session, "SHOW DATABASES") == ["default", "sales"]
        assert "people" in names(session, "SHOW TABLES IN sales")
        assert "dry" not in names(session, "SHOW TABLES IN sales")


def test_partitions_are_exchanged(session: Session, folder: Path) -> None:
    """The metastore moves them, with their folders."""
    for name in ("published", "staging"):
        made = f"CREATE EXTERNAL TABLE {name} (a int) PARTITIONED BY (d string, k int) LOCATION '{folder}/data/{name}'"
        run(session, f"SET hivedruid.catalog=metastore; {made}")
    run(session, "INSERT INTO staging VALUES (1, 'x', 1), (2, 'x', 2), (3, 'y', 3); SET hivedruid.catalog=home")
    exchange = "ALTER TABLE published EXCHANGE PARTITION (d = 'x') WITH TABLE staging"
    with pytest.raises(UnsupportedError, match=r"cannot change default\.published"):
        run(session, exchange)
    run(session, f"SET hivedruid.catalog=metastore; {exchange}")
    assert names(session, "SHOW PARTITIONS published") == ["d=x/k=1", "d=x/k=2"]
    assert names(session, "SHOW PARTITIONS staging") == ["d=y/k=3"]
    assert run(session, "SELECT a, k FROM published ORDER BY a") == [(1, 1), (2, 2)]
    assert not (folder / "data" / "staging" / "d=x").exists()
    run(session, "DROP TABLE published; DROP TABLE staging")


def test_timestamps_that_hive_reads(session: Session, folder: Path) -> None:
    """Spark would store them as BIGINT in ORC files. Parquet files of Hive have INT96."""
    run(session, "SET hivedruid.catalog=metastore")
    moment = "2024-01-01 10:00:00.123"
    for form in ("orc", "parquet"):
        place = folder / "data" / f"times_{form}"
        run(
            session,
            f"CREATE EXTERNAL TABLE times_{form} (t timestamp, a array<timestamp>) STORED AS {form} LOCATION '{place}'",
        )
        run(session, f"INSERT INTO times_{form} SELECT timestamp '{moment}', array(timestamp '{moment}')")
    (file,) = (folder / "data" / "times_orc").glob("part-*")
    assert pyarrow.orc.ORCFile(file).schema.field("t").type == pa.timestamp("ns")
    of_hive = pa.table({"t": pa.array([1704103200123000], pa.timestamp("us"))})
    pyarrow.parquet.write_table(
        of_hive, folder / "data" / "times_parquet" / "000000_0", use_deprecated_int96_timestamps=True
    )
    for form, rows in (("orc", 1), ("parquet", 2)):
        assert run(session, f"SELECT count(*) FROM times_{form} WHERE t = timestamp '{moment}'") == [(rows,)]
        run(session, f"DROP TABLE times_{form}")
