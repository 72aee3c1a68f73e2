"""Checkpoints and rollbacks of streams, and other definitions, on a real Kafka and Iceberg tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hivedruid.actions.streaming import gather
from hivedruid.errors import ExecutionError, HiveDruidError, SemanticError
from hivedruid.session import Session
from tests.support.job_homes import run
from tests.support.streams import CONF, Home, expire, in_spark, stream_home

if TYPE_CHECKING:
    from tests.support.kafka import Topics

pytestmark = pytest.mark.spark


@pytest.fixture
def home(tmp_path: Path, topics: Topics) -> Iterator[Home]:
    with stream_home(tmp_path / "home", topics) as made:
        yield made


def test_rows_and_offsets_go_back_together(home: Home) -> None:
    home.create()
    for _ in range(3):
        home.send(10)
        home.run("RUN STREAM s")
    home.run("ROLLBACK STREAM s TO BATCH 1")
    assert home.counts() == (10, 10, sum(range(10)))
    assert (home.stream()["lag"], [row["batch"] for row in home.run("SHOW BATCHES s")]) == (20, [1, 0])
    home.run("ROLLBACK STREAM s TO BATCH 1")
    home.run("RUN STREAM s")
    assert home.counts() == home.expected
    assert [row["batch"] for row in home.run("SHOW BATCHES s")] == [4, 1, 0]


def test_a_rollback_says_what_it_costs(home: Home) -> None:
    home.send(10)
    home.create()
    home.run("RUN STREAM s")
    home.run("INSERT INTO t VALUES (1000, 0, 9, 0)")
    with (
        Session(home.path, hiveconf=CONF) as asked,
        pytest.raises(
            ExecutionError,
            match="1 batch with 10 rows will be removed, 10 records will be read again, 1 commit "
            "of other writers will be undone; nothing was changed",
        ),
    ):
        run(asked, "ROLLBACK STREAM s TO BATCH 0")
    assert home.counts()[0] == 11


def test_a_checkpoint_outlives_the_other_snapshots(home: Home) -> None:
    home.send(10)
    home.create(checkpoints_retained="2")
    home.run("RUN STREAM s")
    home.run("CHECKPOINT STREAM s")
    home.run("CHECKPOINT STREAM s")
    for _ in range(2):
        home.send(10)
        home.run("RUN STREAM s")
    expire(home)
    with pytest.raises(SemanticError, match=r"stream default\.s has no batch 2"):
        home.run("ROLLBACK STREAM s TO BATCH 2")
    assert [(row["checkpoint"], row["available"]) for row in home.run("SHOW CHECKPOINTS s")] == [(1, True)]
    home.run("ROLLBACK STREAM s TO CHECKPOINT")
    assert home.counts()[0] == 10
    home.run("RUN STREAM s")
    assert home.counts() == home.expected
    for _ in range(2):
        home.run("CHECKPOINT STREAM s")
        home.send(10)
        home.run("RUN STREAM s")
    assert [row["checkpoint"] for row in home.run("SHOW CHECKPOINTS s")] == [5, 4]
    with pytest.raises(SemanticError, match="no checkpoint 1"):
        home.run("ROLLBACK STREAM s TO CHECKPOINT 1")
    home.run("ROLLBACK STREAM s TO CHECKPOINT 4")
    home.run("ROLLBACK STREAM s TO CHECKPOINT 5")
    home.run("RUN STREAM s")
    assert home.counts() == home.expected
    home.run("DROP STREAM s")
    assert refs(home) == ["main"]


def refs(home: Home) -> list[str]:
    with Session(home.path, hiveconf=CONF, background="refs") as session:
        table = session.catalog.find("default", "t")
        assert table is not None
        history = session._get_spark().iceberg_history(table)
        assert history is not None
        return sorted(history.refs)


def test_a_checkpoint_that_another_tool_removed(home: Home) -> None:
    home.send(10)
    home.create()
    home.run("RUN STREAM s")
    with pytest.raises(SemanticError, match="has no checkpoint"):
        home.run("ROLLBACK STREAM s TO CHECKPOINT")
    home.run("CHECKPOINT STREAM s")
    (name,) = (each for each in refs(home) if each != "main")
    in_spark(home, f"ALTER TABLE {{t}} DROP TAG `{name}`")
    assert [row["available"] for row in home.run("SHOW CHECKPOINTS s")] == [False]
    with pytest.raises(SemanticError, match="not in the table any more") as error:
        home.run("ROLLBACK STREAM s TO CHECKPOINT 1")
    assert "RESET STREAM default.s TO OFFSETS (0:5, 1:5)" in (error.value.hint or "")


def test_two_streams_of_a_table_do_not_roll_back_each_other(home: Home) -> None:
    home.send(10)
    home.create()
    home.run("RUN STREAM s")
    home.run("CREATE STREAM other FROM r INTO t AS SELECT id, n, `__partition` AS p, `__offset` AS o FROM r")
    home.run("RUN STREAM other")
    with pytest.raises(SemanticError, match=r"stream default\.other has written to default\.t, too"):
        home.run("ROLLBACK STREAM s TO BATCH 0")
    home.run("ROLLBACK STREAM other TO BATCH 0")
    assert home.counts()[0] == 10


def test_another_query_and_another_column(home: Home) -> None:
    home.send(10)
    home.create()
    home.run("START STREAM s")
    home.run("WAIT STREAM s")
    home.run("ALTER TABLE t ADD COLUMNS (twice int)")
    home.send(10)
    home.run("WAIT STREAM s")
    home.run("ALTER STREAM s AS SELECT id, n, `__partition` AS p, `__offset` AS o, n * 2 AS twice FROM r")
    home.send(10)
    home.run("WAIT STREAM s")
    assert home.counts() == home.expected
    assert home.run("SELECT sum(twice) AS a, count(twice) AS b FROM t") == [{"a": 90, "b": 10}]
    home.run("STOP STREAM s")


def test_properties_between_batches(home: Home) -> None:
    """The manager takes them without waiting for a trigger of hours, nor for the time after an error."""
    home.send(10)
    home.create(trigger="PT5H")
    home.run("START STREAM s")
    home.run("WAIT STREAM s")
    home.send(10)
    home.run("ALTER STREAM s SET PROPERTIES ('trigger' = 'PT0.2S', 'max.records.per.batch' = '5')")
    home.run("WAIT STREAM s")
    assert home.counts() == home.expected
    home.run("ALTER STREAM s UNSET PROPERTIES ('max.records.per.batch')")
    shown = {row["name"]: row["value"] for row in home.run("DESCRIBE STREAM s")}
    assert (shown["trigger"], shown["max.records.per.batch"]) == ("PT0.2S", "500000")
    for statement, message in (
        ("ALTER STREAM s SET PROPERTIES ('start' = 'latest')", "decided when the stream was created"),
        ("ALTER STREAM s SET PROPERTIES ('tigger' = 'PT1S')", "unknown property"),
        ("ALTER STREAM s UNSET PROPERTIES ('tigger')", "unknown property"),
        ("ALTER STREAM s AS SELECT count(*) AS n FROM r", "aggregates rows"),
        ("ALTER STREAM s AS SELECT id FROM r WHERE nope = 1", "nope"),
        ("ALTER STREAM s AS SELECT id AS other FROM r", "table default.t has 4 columns, but query has 1 column"),
    ):
        with pytest.raises(HiveDruidError, match=message) as error:
            home.run(statement)
        assert error.value.span is not None, statement
    home.run("STOP STREAM s")


def test_rows_that_do_not_fit_the_table(home: Home) -> None:
    """They are found when the stream is created, even if there is no record yet; the error is at the column."""
    home.run("CREATE TABLE t (id bigint, at timestamp)")
    for query, message, where in (
        ("SELECT id AS other FROM r", "table default.t has 2 columns, but query has 1 column", "id AS other"),
        ("SELECT id, n, n + 1 AS m FROM r", "table default.t has 2 columns, but query has 3 columns", "n + 1 AS m"),
        ("SELECT id, array(n) AS at FROM r", "Cannot convert column 2 from array<int> to timestamp", "array(n) AS at"),
        ("SELECT array(n) AS at, id FROM r", "Cannot convert column 2 from array<int> to timestamp", "array(n) AS at"),
        ("SELECT id, n AS at FROM r", "NUMERIC types to TIMESTAMP is prohibited: column 'at' is timestamp", "n AS at"),
        ("SELECT id, n AS id FROM r", "columns 1 and 2 of the query are both named 'id'", "n AS id"),
        (
            "SELECT CAST(NULL AS timestamp) AS ad, id FROM r",
            "column 2 of the query, 'id', goes into column 'at' of default.t, not into 'id'",
            "CAST(NULL AS timestamp) AS ad",
        ),
        ("SELECT nope AS id FROM r", "nope", "nope"),
    ):
        statement = f"CREATE STREAM s FROM r INTO t AS {query}"
        with pytest.raises(SemanticError, match=re.escape(message)) as error:
            home.run(statement)
        span = error.value.span
        assert span is not None, query
        begin = statement.index(where)
        assert begin <= span.column - 1 < begin + len(where), (query, span)
    assert home.run("SHOW STREAMS") == []


def test_notes_on_values_that_may_not_fit(home: Home) -> None:
    home.run("CREATE TABLE t (id int, v varchar(3), d decimal(4,1), same string, wider double)")
    notes: list[str] = []
    with Session(home.path, hiveconf=CONF, note=notes.append, background="notes") as session:
        run(
            session,
            "CREATE STREAM s FROM r INTO t AS"
            " SELECT id, 'abcdef' AS v, n AS d, CAST(id AS string) AS same, n AS wider FROM r",
        )
    assert [note.split(": ")[1] for note in notes] == [
        "column 'id' of the query is bigint, and column 'id' of default.t int",
        "column 'v' of the query is string, and column 'v' of default.t varchar(3)",
        "column 'd' of the query is int, and column 'd' of default.t decimal(4,1)",
    ]


def test_the_columns_are_decided_when_the_stream_is_created(home: Home) -> None:
    """Columns that the target gets later do not change where the others go, and `*` has the columns of that time."""
    home.run("CREATE TABLE t (a bigint, b int, c string, p int, o bigint, d bigint)")
    home.run("CREATE STREAM s FROM r INTO t AS SELECT * FROM r")
    home.run("CREATE TABLE u (a bigint, b int)")
    home.run("CREATE STREAM v FROM r INTO u AS SELECT id, n FROM r")
    home.send(10)
    home.run("RUN STREAM s")
    home.run("RUN STREAM v")
    home.run("ALTER TABLE t ADD COLUMNS (id bigint, n int)")
    home.run("ALTER TABLE u ADD COLUMNS (id bigint, n int)")
    home.run("ALTER TABLE r ADD COLUMNS (more string)")
    home.topics.send(home.topic, {"id": 10, "n": 0, "more": "x"})
    home.topics.producer.flush()
    home.sent += 1
    home.run("RUN STREAM s")
    home.run("RUN STREAM v")
    counts = "SELECT sum(a) AS a, count(b) AS b, count(id) AS id, count(n) AS n FROM"
    assert home.run(f"{counts} t") == home.run(f"{counts} u") == [{"a": 55, "b": 11, "id": 0, "n": 0}]
    home.run("ALTER STREAM v AS SELECT id, n, more AS a FROM r")
    home.run("RESET STREAM v TO EARLIEST")
    home.run("RUN STREAM v")
    assert home.run("SELECT count(id) AS id FROM u") == [{"id": 11}]


def test_columns_that_another_tool_has_changed(home: Home) -> None:
    """A column that was dropped or renamed in Iceberg is an error, as long as it is so. A wider type takes the rows."""
    home.run("CREATE TABLE t (id bigint, n int, p int, o bigint)")
    home.create()
    home.send(4)
    home.run("RUN STREAM s")
    for change, back, message in (
        ("RENAME COLUMN n TO m", "RENAME COLUMN m TO n", "column 'n' of default.t was renamed to 'm' by another tool"),
        ("DROP COLUMN n", "ADD COLUMN n int", "column 'n' of default.t was dropped by another tool"),
    ):
        in_spark(home, f"ALTER TABLE {{t}} {change}")
        home.send(2)
        with pytest.raises(HiveDruidError, match=message) as error:
            home.run("RUN STREAM s")
        assert error.value.hint, change
        in_spark(home, f"ALTER TABLE {{t}} {back}")
        home.run("RUN STREAM s")
        assert home.counts() == home.expected
    in_spark(home, "ALTER TABLE {t} ALTER COLUMN n TYPE bigint")
    home.send(2)
    home.run("RUN STREAM s")
    assert home.run("SELECT count(n) AS n FROM t") == [{"n": 2 + 2}]


def test_explain_shows_the_first_batch(home: Home) -> None:
    home.send(10)
    create = (
        "CREATE STREAM s FROM r INTO t WITH PROPERTIES ('rejects' = 'bad', 'max.rejects' = '5', 'trigger' = 'PT1S')"
        " AS SELECT id, upper(CAST(n AS string)) AS n FROM r WHERE n > 3"
    )
    for statement in (f"EXPLAIN {create}", "EXPLAIN START STREAM s"):
        lines = [str(row["Explain"]).strip() for row in home.run(statement)]
        for line in (
            "from offsets: {0=0, 1=0}", "to offsets: {0=5, 1=5}", "records: 10",
            "malformed records: added to default.bad, which is created with the first of them",
            "limit of malformed records: 5 ('max.rejects' = '5')", "max.rejects 5", "trigger PT1S",
            f"source: default.r (topic {home.topic} at {home.topics.bootstrap})",
        ):  # fmt: skip
            assert line in lines, (statement, line, lines)
        assert any(line.startswith("sql: SELECT") for line in lines), lines
        if statement == f"EXPLAIN {create}":
            for line in (
                "target: default.t (is created)", "n into n string", "max.records.per.batch 500000",
            ):  # fmt: skip
                assert line in lines, (line, lines)
            assert home.run("SHOW STREAMS") == home.run("SHOW TABLES LIKE 't'") == []
            home.run(create)


def test_a_column_that_is_renamed_while_a_batch_is_planned(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between reading the table's metadata and reading the offsets, as another tool may do it: no column is added."""
    home.create()
    home.send(10)
    topic = gather._topic

    def late(*given: Any) -> Any:
        monkeypatch.setattr(gather, "_topic", topic)
        in_spark(home, "ALTER TABLE {t} RENAME COLUMN n TO m")
        return topic(*given)

    monkeypatch.setattr(gather, "_topic", late)
    with pytest.raises(ExecutionError, match="was renamed to 'm' by another tool"):
        home.run("RUN STREAM s")
    in_spark(home, "ALTER TABLE {t} RENAME COLUMN m TO n")
    home.run("RUN STREAM s")
    assert home.counts() == home.expected
