"""What Superset does with a dialect: the calls of its engine specifications and of its query builder, with SQLAlchemy alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

from hivedruid.superset_sql import EPOCH_MILLISECONDS, EPOCH_SECONDS, TIME_GRAINS, Running, time_literal
from tests.support import embedded_tables

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    home = embedded_tables.create(tmp_path_factory.mktemp("superset") / "home")
    engine = sa.create_engine(f"hivedruid:///{home}?druid=embedded:&hive.local.time.zone=UTC")
    with engine.connect() as connection:
        connection.exec_driver_sql("CREATE DATABASE other")
        connection.exec_driver_sql("CREATE VIEW pages AS SELECT page, added FROM edits")
    yield engine
    engine.dispose()


def compiled(engine: Engine, query: Any) -> str:
    """The text that Superset sends: with literals in place of parameters."""
    return str(query.compile(engine, compile_kwargs={"literal_binds": True}))


def fetched(engine: Engine, text: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """What Superset reads of a raw cursor: names and types of `description`, then all rows."""
    raw = engine.raw_connection()
    try:
        cursor = raw.cursor()
        cursor.execute(text)
        assert cursor.description is not None
        names = [column[0] for column in cursor.description]
        assert all(isinstance(column[1], str) for column in cursor.description)
        return names, list(cursor.fetchall())
    finally:
        raw.close()


def test_lists_of_a_database(engine: Engine) -> None:
    inspector = sa.inspect(engine)
    assert inspector.default_schema_name == "default"
    assert set(inspector.get_schema_names()) == {"default", "other"}
    for schema, tables, views in (
        (None, {"edits"}, {"pages"}),
        ("default", {"edits"}, {"pages"}),
        ("other", set(), set()),
    ):
        assert set(inspector.get_table_names(schema)) == tables
        assert set(inspector.get_view_names(schema)) == views
    assert inspector.has_table("edits", "default")
    assert not inspector.has_table("edits", "other")
    assert not inspector.has_table("edits", "nowhere")
    assert not inspector.has_table("no table")


def test_columns_of_a_data_set(engine: Engine) -> None:
    inspector = sa.inspect(engine)
    columns = inspector.get_columns("edits", "default")
    types = {column["name"]: column["type"].compile(dialect=engine.dialect) for column in columns}
    assert types == {"__time": "TIMESTAMP", "page": "STRING", "added": "BIGINT"}
    assert [column["name"] for column in inspector.get_columns("pages")] == ["page", "added"]
    assert inspector.get_table_comment("edits") == {"text": None}
    assert inspector.get_indexes("edits") == inspector.get_foreign_keys("edits") == []
    assert inspector.get_pk_constraint("edits")["constrained_columns"] == []


def test_a_preview(engine: Engine) -> None:
    quote = engine.dialect.identifier_preparer.quote
    source = sa.text(f"{quote('default')}.{quote('edits')}")
    columns: list[Any] = [sa.column(column["name"]) for column in sa.inspect(engine).get_columns("edits")]
    text = compiled(engine, sa.select(*columns).select_from(source).limit(2))
    names, rows = fetched(engine, text)
    assert (names, len(rows)) == (["__time", "page", "added"], 2)
    assert fetched(engine, "SELECT * FROM `default`.`edits` LIMIT 2")[1] == rows


def test_a_query_of_the_user_is_a_subquery(engine: Engine) -> None:
    """SQL Lab and virtual data sets."""
    inner = sa.text("SELECT page, added FROM edits WHERE page LIKE '%'").columns(sa.column("page"), sa.column("added"))
    text = compiled(
        engine, sa.select(sa.func.count().label("n")).select_from(inner.subquery("virtual_table")).limit(1001)
    )
    assert fetched(engine, text) == (["n"], [(2,)])


@pytest.mark.parametrize("grain", [grain for grain in TIME_GRAINS if grain])
def test_time_grains(engine: Engine, grain: str) -> None:
    """A chart over time: the grain as text, a range of times, and series that are the largest ones."""
    time = sa.literal_column(TIME_GRAINS[grain].replace("{col}", "`__time`"), sa.TIMESTAMP).label("__timestamp")
    page: Any = sa.column("page")
    total: Any = sa.func.sum(sa.column("added")).label("SUM(added)")
    in_range = sa.and_(
        sa.column("__time") >= sa.literal(datetime(1970, 1, 1), sa.TIMESTAMP),
        sa.column("__time") < sa.literal(datetime(1970, 1, 2), sa.TIMESTAMP),
        sa.column("page").is_not(None),  # Hive 4 sorts NULL as the largest value
    )
    edits = sa.table("edits")
    largest = sa.select(page.label("page__"), total.label("mme_inner__")).select_from(edits).where(in_range)
    series = largest.group_by(page).order_by(sa.desc("mme_inner__")).limit(1).subquery("series_limit")
    query = (
        sa.select(time, page, total).select_from(edits.join(series, page == series.c.page__)).where(in_range)
        .group_by(time, page).order_by(sa.desc("SUM(added)")).limit(100)
    )  # fmt: skip
    names, rows = fetched(engine, compiled(engine, query))
    assert names == ["__timestamp", "page", "sum(added)"]  # as in Hive; Superset names columns by position
    assert [row[1:] for row in rows] == [("b", 2)]
    simple = sa.select(time, total).select_from(edits).where(in_range).group_by(time)
    plan = fetched(engine, f"EXPLAIN {compiled(engine, simple)}")[1]
    assert any('"queryType": "timeseries"' in line for (line,) in plan)


def test_the_cost_of_a_statement(engine: Engine) -> None:
    names, rows = fetched(engine, "EXPLAIN FORMATTED SELECT page, sum(added) FROM edits GROUP BY page")
    assert len(names) == 1
    assert "druid_queries" in "\n".join(line for (line,) in rows)


def test_an_error_has_the_place(engine: Engine) -> None:
    with pytest.raises(engine.dialect.dbapi.ProgrammingError, match="line 1, column 8"):  # type: ignore[union-attr]
        fetched(engine, "SELECT pag FROM edits")


@pytest.mark.parametrize(
    ("kind", "literal"),
    [
        ("TIMESTAMP", "TIMESTAMP '1970-01-01 01:00:00.000000'"),
        ("timestamp with local time zone", "TIMESTAMP '1970-01-01 01:00:00.000000'"),
        ("DATE", "DATE '1970-01-01'"),
        ("STRING", None),
    ],
)
def test_literals_of_a_time_filter(engine: Engine, kind: str, literal: str | None) -> None:
    assert time_literal(kind, datetime(1970, 1, 1, 1)) == literal
    if literal is not None:
        assert fetched(engine, f"SELECT count(*) FROM edits WHERE CAST(`__time` AS {kind}) >= {literal}")[1] in (
            [(2,)],
            [(3,)],
        )


def test_columns_that_count_from_1970(engine: Engine) -> None:
    expressions = EPOCH_SECONDS.replace("{col}", "90"), EPOCH_MILLISECONDS.replace("{col}", "-1")
    rows = fetched(engine, f"SELECT {', '.join(expressions)}")[1]
    assert rows == [(datetime(1970, 1, 1, 0, 1, 30), datetime(1969, 12, 31, 23, 59, 59))]


def test_a_stored_identifier_cancels(engine: Engine) -> None:
    running = Running()
    raw = engine.raw_connection()
    identifier = running.add(raw.dbapi_connection)  # type: ignore[arg-type]
    assert running.cancel(identifier)
    assert not running.cancel("of another process")
    raw.close()


def test_cancelling_from_another_thread(engine: Engine) -> None:
    """A query that has ended, or that is being read, is cancelled without an error of the canceller."""
    raw = engine.raw_connection()
    cursor = raw.cursor()
    cursor.execute("SELECT page FROM edits")
    cancelling = threading.Thread(target=raw.dbapi_connection.cancel)  # type: ignore[union-attr]
    cancelling.start()
    cancelling.join(timeout=30)
    assert not cancelling.is_alive()
    cursor.execute("SELECT 1")
    assert cursor.fetchall() == [(1,)]
    raw.close()
