"""SQLAlchemy over the embedded store."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
import sqlalchemy as sa
from sqlalchemy import exc
from sqlalchemy.schema import CreateIndex, CreateTable

from hivedruid.errors import UsageError
from hivedruid.sqlalchemy_dialect import HiveDialect, HiveNested, type_of
from tests.support import embedded_tables

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

EDITS = sa.table(
    "edits", sa.column("__time", sa.TIMESTAMP), sa.column("page", sa.String), sa.column("added", sa.BigInteger)
)
DIALECT = HiveDialect()


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    home = embedded_tables.create(tmp_path_factory.mktemp("sqlalchemy") / "home")
    engine = sa.create_engine(f"hivedruid:///{home}?druid=embedded:&hive.local.time.zone=UTC")
    with engine.connect() as connection:
        for statement in (
            "CREATE DATABASE other",
            "CREATE VIEW pages AS SELECT page FROM edits",
            "CREATE EXTERNAL TABLE other.files (i int COMMENT 'a number', m map<string,array<int>>, d decimal(10,2),"
            f" v varchar(5)) COMMENT 'files of others' STORED AS PARQUET LOCATION '{home.parent}/files'",
        ):
            connection.exec_driver_sql(statement)
    yield engine
    engine.dispose()


def rows(engine: Engine, statement: Any) -> list[tuple[Any, ...]]:
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(statement)]


def sql(statement: Any) -> str:
    return " ".join(str(statement.compile(dialect=DIALECT, compile_kwargs={"literal_binds": True})).split())


def test_the_entry_point_is_the_dialect() -> None:
    (entry,) = entry_points(group="sqlalchemy.dialects", name="hivedruid")
    assert entry.load() is HiveDialect


@pytest.mark.parametrize(
    ("url", "arguments", "options"),
    [
        ("hivedruid://", [None, None], {"settings": {}, "cluster": None, "database": None}),
        (
            "hivedruid:////data/home?druid=embedded:",
            ["/data/home", "embedded:"],
            {"settings": {}, "cluster": None, "database": None},
        ),
        (
            "hivedruid://router/home?database=d&hive.local.time.zone=UTC",
            ["home", "http://router:8888"],
            {"settings": {"hive.local.time.zone": "UTC"}, "cluster": None, "database": "d"},
        ),
    ],
)
def test_urls(url: str, arguments: list[Any], options: dict[str, Any]) -> None:
    assert DIALECT.create_connect_args(sa.make_url(url)) == (arguments, options)


def test_a_url_has_no_credentials() -> None:
    with pytest.raises(UsageError, match="must not contain credentials"):
        DIALECT.create_connect_args(sa.make_url("hivedruid://me:secret@router"))


# --- reflection ----------------------------------------------------------------------------------------------------


def test_names(engine: Engine) -> None:
    inspector = sa.inspect(engine)
    assert inspector.get_schema_names() == ["default", "other"]
    assert inspector.default_schema_name == "default"
    assert inspector.get_table_names() == ["edits"]
    assert inspector.get_view_names() == ["pages"]
    assert inspector.get_materialized_view_names() == []
    assert (inspector.get_table_names("other"), inspector.get_view_names("other")) == (["files"], [])
    assert [inspector.has_table(name) for name in ("edits", "pages", "files")] == [True, True, False]
    assert inspector.has_table("files", schema="other")
    assert "SELECT page FROM" in inspector.get_view_definition("pages")


def test_columns(engine: Engine) -> None:
    columns = sa.inspect(engine).get_columns("files", schema="other")
    assert [(column["name"], repr(column["type"]), column["comment"]) for column in columns] == [
        ("i", "INTEGER()", "a number"),
        ("m", "HiveNested('map<string,array<int>>')", None),
        ("d", "DECIMAL(precision=10, scale=2)", None),
        ("v", "VARCHAR(length=5)", None),
    ]
    assert sa.inspect(engine).get_table_comment("files", schema="other") == {"text": "files of others"}


def test_columns_of_partitions_are_the_last(engine: Engine, tmp_path: Path) -> None:
    with engine.connect() as connection:
        connection.exec_driver_sql(
            f"CREATE EXTERNAL TABLE other.parts (a int) PARTITIONED BY (day date) STORED AS PARQUET LOCATION '{tmp_path}'"
        )
        columns = sa.inspect(connection).get_columns("parts", schema="other")
        connection.exec_driver_sql("DROP TABLE other.parts")
    assert [(column["name"], repr(column["type"])) for column in columns] == [("a", "INTEGER()"), ("day", "DATE()")]


def test_names_that_no_table_can_have_are_those_of_no_table(engine: Engine) -> None:
    inspector = sa.inspect(engine)
    assert not any(inspector.has_table(name) for name in ("per % cent", "(2)", "été", "other.files"))
    assert not inspector.has_table("edits", schema="nowhere")
    with pytest.raises(exc.NoSuchTableError):
        inspector.get_columns("edits", schema="nowhere")
    with pytest.raises(exc.NoSuchTableError):
        inspector.get_view_definition("edits")


def test_temporary_tables_are_listed_apart(engine: Engine) -> None:
    with engine.connect() as connection:
        connection.exec_driver_sql("CREATE TEMPORARY TABLE mine (a int)")
        inspector = sa.inspect(connection)
        assert (inspector.get_temp_table_names(), inspector.get_table_names()) == (["mine"], ["edits"])
        assert inspector.has_table("mine")
        connection.exec_driver_sql("DROP TABLE mine")


def test_not_null_of_managed_tables(engine: Engine) -> None:
    columns: list[sa.Column[Any]] = [
        sa.Column("id", sa.Integer, primary_key=True, comment="NOT NULL"),
        sa.Column("n", sa.Numeric(5, 2), nullable=False),
        sa.Column("s", sa.String, comment="NOT NULL"),
    ]
    table = sa.Table("required", sa.MetaData(), *columns, comment="it's")
    with engine.connect() as connection:
        table.create(connection)
        inspector = sa.inspect(connection)
        assert [column["nullable"] for column in inspector.get_columns("required")] == [False, False, True]
        assert inspector.get_table_comment("required") == {"text": "it's"}
        connection.execute(sa.schema.DropTableComment(table))
        assert sa.inspect(connection).get_table_comment("required") == {"text": None}
        table.drop(connection)


def test_there_are_no_keys_and_no_indexes(engine: Engine) -> None:
    inspector = sa.inspect(engine)
    assert inspector.get_pk_constraint("edits")["constrained_columns"] == []
    for method in (
        inspector.get_foreign_keys, inspector.get_indexes, inspector.get_unique_constraints, inspector.get_check_constraints,
    ):  # fmt: skip
        assert method("edits") == []
        with pytest.raises(exc.NoSuchTableError):
            method("nothing")


def test_a_reflected_table_can_be_queried(engine: Engine) -> None:
    table = sa.Table("edits", sa.MetaData(), autoload_with=engine)
    assert list(table.columns.keys()) == ["__time", "page", "added"]
    assert rows(engine, sa.select(table.c.added).where(table.c["__time"] < datetime(1970, 1, 1, 1))) == [(1,)]
    with pytest.raises(exc.NoSuchTableError):
        sa.Table("nothing", sa.MetaData(), autoload_with=engine)


@pytest.mark.parametrize(
    ("hive", "kind"),
    [
        ("boolean", sa.BOOLEAN), ("tinyint", sa.SMALLINT), ("bigint", sa.BIGINT), ("float", sa.FLOAT), ("double", sa.DOUBLE),
        ("string", sa.TEXT), ("char(3)", sa.CHAR), ("binary", sa.BINARY), ("date", sa.DATE), ("timestamp", sa.TIMESTAMP),
        ("timestamp with local time zone", sa.TIMESTAMP), ("array<int>", HiveNested), ("interval_day_time", HiveNested),
    ],
)  # fmt: skip
def test_types(hive: str, kind: type[sa.types.TypeEngine[Any]]) -> None:
    assert isinstance(type_of(hive), kind)


# --- queries -------------------------------------------------------------------------------------------------------


def test_a_query_with_parameters(engine: Engine) -> None:
    query = (
        sa.select(EDITS.c.page, sa.func.sum(EDITS.c.added).label("Total"))
        .where(EDITS.c.page.in_(["a", "b", "it's"]), EDITS.c.added.is_distinct_from(5))
        .group_by(EDITS.c.page).order_by(sa.desc("Total")).limit(1).offset(1)
    )  # fmt: skip
    with engine.connect() as connection:
        assert connection.execute(query).mappings().all() == [{"page": "a", "Total": 1}]


def test_expressions_of_the_dialect(engine: Engine) -> None:
    query = sa.select(
        sa.literal("back\\slash ' quote"), sa.cast("1.5", sa.Numeric(5, 2)), sa.func.char_length(EDITS.c.page),
        EDITS.c.page.regexp_match("^a"), EDITS.c.page + "x", sa.cast(EDITS.c.added, sa.String),
    ).order_by(EDITS.c["__time"]).limit(1)  # fmt: skip
    assert rows(engine, query) == [("back\\slash ' quote", Decimal("1.50"), 1, True, "ax", "1")]
    assert rows(engine, sa.select(EDITS.c.page).where(EDITS.c.page.in_([]))) == []
    assert rows(engine, sa.select(EDITS.c.page).order_by(EDITS.c["__time"]).offset(1)) == [("b",), (None,)]
    assert rows(engine, sa.select(sa.true(), sa.null(), sa.literal(date(2020, 1, 1)))) == [
        (True, None, date(2020, 1, 1))
    ]


def test_operators_of_the_dialect(engine: Engine) -> None:
    moment, number = sa.literal(datetime(2020, 1, 31, 12)), sa.cast(15, sa.Integer)
    query = sa.select(
        number / 10, number // sa.cast(10, sa.Integer), number.bitwise_lshift(2), number.bitwise_rshift(1),
        sa.literal("abab").regexp_replace("b", "x"), moment - timedelta(days=1), moment + sa.literal(timedelta(seconds=1.5)),
    )  # fmt: skip
    assert rows(engine, query) == [
        (Decimal("1.5"), 1, 60, 7, "axax", datetime(2020, 1, 30, 12), datetime(2020, 1, 31, 12, 0, 1, 500000))
    ]


def test_a_date_is_not_compared_with_a_time(engine: Engine) -> None:
    day = sa.cast("2020-01-01", sa.Date)
    assert rows(engine, sa.select(day == sa.literal(datetime(2020, 1, 1, 12), sa.Date))) == [(True,)]
    assert "DATE '2020-01-01'" in sql(sa.select(sa.literal(datetime(2020, 1, 1, 12), sa.Date)))


def test_literals_in_place_of_parameters() -> None:
    """What Superset sends: literals, with the escapes of Hive."""
    query = sa.select(EDITS.c.page).where(EDITS.c.page == "a\\'b", EDITS.c["__time"] >= datetime(2020, 1, 1)).limit(5)
    assert sql(query) == (
        "SELECT `edits`.`page` FROM `edits` WHERE `edits`.`page` = 'a\\\\\\'b' AND"
        " `edits`.`__time` >= TIMESTAMP '2020-01-01 00:00:00' LIMIT 5"
    )
    zoned = sa.literal(datetime(2020, 1, 1, tzinfo=UTC), sa.TIMESTAMP(timezone=True))
    assert sql(sa.select(zoned.label("t"))) == "SELECT TIMESTAMPLOCALTZ '2020-01-01 00:00:00 UTC' AS `t`"


def test_a_name_with_a_backquote_is_an_error() -> None:
    with pytest.raises(exc.CompileError, match="contains a backquote"):
        sql(sa.select(sa.column("a`b")))


def test_an_error_of_a_statement_is_one_of_sqlalchemy(engine: Engine) -> None:
    with pytest.raises(exc.ProgrammingError, match="did you mean 'edits'"):
        rows(engine, sa.text("SELECT * FROM edit"))


def test_the_database_of_the_url_is_used(engine: Engine) -> None:
    other = sa.create_engine(engine.url.update_query_dict({"database": "other"}))
    assert sa.inspect(other).get_table_names() == ["files"]
    other.dispose()


def test_pandas_reads_queries_and_tables(engine: Engine) -> None:
    frame = pd.read_sql(sa.text("SELECT page, added FROM edits WHERE added >= :least"), engine, params={"least": 2})
    assert frame.to_dict("records") == [{"page": "b", "added": 2}]
    assert len(pd.read_sql("SELECT * FROM edits", engine)) == 3
    assert list(pd.read_sql_table("edits", engine, columns=["page"])["page"][:2]) == ["a", "b"]
    chunks = pd.read_sql("SELECT added FROM edits ORDER BY `__time`", engine, chunksize=2)
    assert [len(chunk) for chunk in chunks] == [2, 1]


# --- tables --------------------------------------------------------------------------------------------------------


def test_a_table_is_created_with_the_options_of_hive(engine: Engine) -> None:
    table = sa.Table(
        "made", sa.MetaData(),
        sa.Column("__time", sa.TIMESTAMP(timezone=True), primary_key=True), sa.Column("page", sa.String, comment="it's"),
        sa.Column("n", sa.Integer), sa.Column("f", sa.Float), sa.Column("d", sa.Numeric), sa.Column("c", sa.CHAR(2)),
        prefixes=["EXTERNAL"], hivedruid_stored_by="druid", hivedruid_tblproperties={"druid.columns.as": "d:double"},
    )  # fmt: skip
    assert " ".join(str(CreateTable(table).compile(dialect=DIALECT)).split()) == (
        "CREATE EXTERNAL TABLE `made` ( `__time` TIMESTAMP WITH LOCAL TIME ZONE, `page` STRING COMMENT 'it\\'s', `n` INT,"
        " `f` DOUBLE, `d` DECIMAL(38,18), `c` CHAR(2) ) STORED BY 'druid' TBLPROPERTIES ('druid.columns.as' = 'd:double')"
    )
    with engine.connect() as connection:
        table.create(connection)
        assert sa.inspect(connection).has_table("made")
        table.drop(connection)
        assert not sa.inspect(connection).has_table("made")


def test_what_hive_does_not_have_is_an_error() -> None:
    table = sa.Table("t", sa.MetaData(), sa.Column("a", sa.Integer, index=True), sa.Column("b", sa.Time))
    with pytest.raises(exc.CompileError, match="Hive has no indexes"):
        CreateIndex(next(iter(table.indexes))).compile(dialect=DIALECT)
    with pytest.raises(exc.CompileError, match="no columns of intervals"):
        CreateTable(sa.Table("i", sa.MetaData(), sa.Column("a", sa.Interval))).compile(dialect=DIALECT)
    with pytest.raises(exc.CompileError, match="no type for the time of a day"):
        CreateTable(table).compile(dialect=DIALECT)
    column = sa.column("s", sa.String)
    for expression in (column.regexp_match("a", flags="i"), column.regexp_replace("a", "b", flags="i")):
        with pytest.raises(exc.CompileError, match="flags of regular expressions are not supported"):
            expression.compile(dialect=DIALECT)


def test_rows_of_an_insert_are_one_statement(tmp_path: Path) -> None:
    statement = sa.insert(EDITS).values([{"page": "a", "added": 1}, {"page": "b", "added": 2}])
    assert sql(statement) == "INSERT INTO `edits` (`page`, `added`) VALUES ('a', 1), ('b', 2)"
