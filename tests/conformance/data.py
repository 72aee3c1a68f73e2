"""The rows of the cases, each set written once into the user's cache: JSON for Druid, Parquet for Spark.

The rows of Calcite's tests are rebuilt from the samples of `hivedruid sample`, those of Hive's come with the cases. A
table whose rows are not published gets a few hundred generated ones, which contain the constants of the queries.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from hivedruid.catalog.table import TIME_COLUMN, Column, Table
from hivedruid.catalog.types import HiveType
from hivedruid.defaults import cache_folder
from hivedruid.local import artifacts, samples
from tests.conformance.cases import HIVES_ZONE, Case, folder
from tests.conformance.constants import Constants, constants_of

PREFIX = "conformance_"
SYNTHETIC_ROWS = 300
VERSION = "2"
"""Part of every name: change it when the generation of rows changes."""


@dataclass(frozen=True)
class Rows:
    """The rows of a table. `is_real`: the expected rows were computed from them."""

    table: Table
    folder: Path
    is_real: bool

    @property
    def json(self) -> Path:
        """The folder of `rows.json.gz`: Druid's fields, times as milliseconds."""
        return self.folder / "json"

    @property
    def parquet(self) -> Path:
        return self.folder / "parquet" / "rows.parquet"


def rows_of(table: Table, cases: Iterable[Case]) -> Rows:
    """The rows of a table in these cases, generated if they are not in the cache."""
    for known in KNOWN:
        source = known.source(table)
        if source is not None:
            name = f"{known.name}_{_digest(source, *_column_texts(table))}"
            made = _cached(name, partial(_from_sql, query=source))
            return Rows(_stored(table, name, made, known.granularity), made, is_real=True)
    text = _synthetic(table, constants_of(cases))
    name = f"{table.name}_{_digest(text, *_column_texts(table))}"
    made = _cached(name, partial(_from_lines, table=table, lines=text))
    return Rows(_stored(table, name, made, "DAY"), made, is_real=False)


def _stored(table: Table, name: str, made: Path, granularity: str) -> Table:
    """The table over a data source named after its rows: rows that have been ingested once are permanent.

    A managed table is one over the Parquet file here.
    """
    if table.kind != "druid":
        return replace(table, kind="files", format="parquet", location=str(made / "parquet"))
    properties = {"druid.datasource": f"{PREFIX}{name}", "druid.rollup": "false"}
    return replace(table, properties={**table.properties, **properties, "druid.segment.granularity": granularity})


def _column_texts(table: Table) -> list[str]:
    return [f"{column.field_name} {column.type}" for column in table.columns if column.name != TIME_COLUMN]


def _digest(*texts: str) -> str:
    return hashlib.sha256("\n".join([VERSION, *texts]).encode()).hexdigest()[:12]


# --- the cache -------------------------------------------------------------------------------------------------------


def _cached(name: str, fill: Callable[[Path], None]) -> Path:
    """A folder that `fill` has filled, complete or absent."""
    target = cache_folder() / "conformance" / name
    with artifacts.exclusive(target.parent):
        if not target.is_dir():
            unfinished = target.with_name(f"{name}.unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            for kind in ("json", "parquet"):
                (unfinished / kind).mkdir(parents=True)
            fill(unfinished)
            unfinished.rename(target)
    return target


def _from_sql(target: Path, query: str) -> None:
    import duckdb

    with duckdb.connect() as connection:
        parquet = target / "parquet" / "rows.parquet"
        connection.execute(f"COPY ({query}) TO '{parquet}' (FORMAT parquet)")
        lines = target / "json" / "rows.json.gz"
        connection.execute(f"COPY (FROM '{parquet}') TO '{lines}' (FORMAT json, COMPRESSION gzip)")


def _from_lines(target: Path, table: Table, lines: str) -> None:
    source = target / "rows.json"
    source.write_text(lines, encoding="utf-8")
    _from_sql(target, _select(source, table))


DUCKDB_TYPES = {
    "boolean": "BOOLEAN", "tinyint": "TINYINT", "smallint": "SMALLINT", "int": "INTEGER", "bigint": "BIGINT",
    "float": "FLOAT", "double": "DOUBLE", "date": "DATE", "timestamp": "TIMESTAMP",
}  # fmt: skip


def _select(source: Path, table: Table) -> str:
    """The rows of a JSON lines file in a table's columns, under their names in Druid."""
    types = {column.field_name: _duckdb_type(column) for column in _distinct(table)}
    values = ", ".join(f"CAST({_quoted(name)} AS {kind}) AS {_quoted(name)}" for name, kind in types.items())
    return f"SELECT {values} FROM {_text_rows(source, types)}"


def _distinct(table: Table) -> list[Column]:
    """The columns, one for each field."""
    return list({column.field_name: column for column in reversed(table.columns)}.values())[::-1]


def _duckdb_type(column: Column) -> str:
    if column.name == TIME_COLUMN:
        return "BIGINT"
    return DUCKDB_TYPES.get(column.type.name, "VARCHAR")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# --- published rows --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Known:
    """A published set of rows; `source` is the SQL that computes a table's rows from it, None for another table."""

    name: str
    granularity: str
    source: Callable[[Table], str | None]


def _fields(table: Table) -> set[str]:
    return {column.field_name for column in table.columns} - {TIME_COLUMN}


STAR = ("product", "product_class", "customer", "promotion", "store", "time_by_day")
"""The tables that are joined with a sale; together they have the columns of the flat table."""

SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "CAST(CAST({} AS DECIMAL(10, 4)) AS VARCHAR)": ("SRP", "cost"),
    "CAST(CAST({} AS DOUBLE) AS VARCHAR) || 'E0'": ("gross_weight", "net_weight", "shelf_width", "shelf_height", "shelf_depth"),
    "upper({})": ("recyclable_package", "low_fat", "coffee_bar", "video_store", "salad_bar", "prepared_food", "florist"),
    "{} || '00000'": ("start_date", "end_date"),
    "replace({}, ' ', 'T') || '00000'": ("first_opened_date", "last_remodel_date"),
}  # fmt: skip
"""The string form, in the flat table, of columns that are not strings in the original tables."""


def _foodmart(table: Table) -> str | None:
    """The sales of 1997, each with its product, customer, promotion, store and day; equal rows are summed, as Druid
    did.
    """
    if table.data_source != "foodmart":
        return None
    source = samples.foodmart()
    owners: dict[str, str] = {}
    for name in STAR:
        for field in _keys(source / f"{name}.json"):
            owners.setdefault(field, name)
    metrics = [column for column in _distinct(table) if column.type.is_numeric]
    texts = [c.field_name for c in _distinct(table) if not c.type.is_numeric and c.name != TIME_COLUMN]
    spelt = {field: spelling for spelling, fields in SPELLINGS.items() for field in fields}
    values = [
        f"{spelt.get(field, '{}').format(f'{owners[field]}.{_quoted(field)}') if field in owners else 'NULL'} AS {_quoted(field)}"
        for field in texts
    ]
    sums = [
        f"CAST(sum(CAST(fact.{_quoted(m.field_name)} AS DOUBLE)) AS {_duckdb_type(m)}) AS {_quoted(m.field_name)}"
        for m in metrics
    ]
    joins = [
        f"JOIN {_text_rows(source / f'{name}.json')} AS {name} ON {name}.{key} = {'product' if name == 'product_class' else 'fact'}.{key}"
        for name in STAR
        for key in ("time_id" if name == "time_by_day" else f"{name}_id",)
    ]  # fmt: skip
    moment = "epoch_ms(CAST(time_by_day.the_date AS TIMESTAMP))"
    group = ", ".join([moment, *(str(i + 2) for i in range(len(texts)))])
    order = ", ".join([TIME_COLUMN, *(f"{_quoted(t)} NULLS FIRST" for t in texts)])
    return (
        f"SELECT {moment} AS {TIME_COLUMN}, {', '.join([*values, *sums])} FROM {_text_rows(source / 'sales_fact_1997.json')} AS fact"
        f" {' '.join(joins)} GROUP BY {group} ORDER BY {order}"
    )


def _wikipedia(table: Table) -> str | None:
    """The sampled edits, one row each."""
    if table.data_source != "wikipedia" or "countryName" not in _fields(table):
        return None
    source = samples.wikiticker()
    keys = _keys(source)
    values = ['epoch_ms(CAST("time" AS TIMESTAMP)) AS __time']
    for column in _distinct(table):
        field = column.field_name
        if field in keys:
            values.append(f"CAST({_quoted(field)} AS {_duckdb_type(column)}) AS {_quoted(field)}")
        elif column.name != TIME_COLUMN:
            values.append(f"CAST(1 AS {_duckdb_type(column)}) AS {_quoted(field)}")  # `count`
    return f"SELECT {', '.join(values)} FROM {_text_rows(source)} ORDER BY __time"


def _keys(path: Path) -> tuple[str, ...]:
    import duckdb

    with duckdb.connect() as connection:
        described = connection.execute(f"DESCRIBE FROM read_json_auto('{path}')").fetchall()
    return tuple(row[0] for row in described)


def _text_rows(path: Path, keys: Iterable[str] | None = None) -> str:
    """A JSON lines file, every value as a string."""
    spec = ", ".join(f"{_quoted(key)}: 'VARCHAR'" for key in keys or _keys(path))
    return f"read_json('{path}', format = 'newline_delimited', columns = {{{spec}}})"


ALL_TYPES = "druid_table_alltypesorc"


def _hives_rows(name: str) -> Path | None:
    """The file of rows that comes with Hive's cases."""
    return next(iter(sorted(folder().glob(f"hive/data/{name}*.jsonl"))), None)


def _published_by_hive(table: Table) -> str | None:
    source = _hives_rows(table.name) if table.kind == "druid" else None
    return None if source is None else _select(source, table)


def _small(table: Table) -> str | None:
    """The rows that `druidmini_semijoin_reduction_all_types.q` inserts into its small table."""
    source = _hives_rows(ALL_TYPES) if table.name == "alltypesorc_small" else None
    if source is None:
        return None
    wanted = [
        f"CAST(timezone('{HIVES_ZONE}', make_timestamptz(CAST(__time AS BIGINT) * 1000)) AS TIMESTAMP) AS {_quoted(column.name)}"
        if column.type.is_timestamp
        else f"CAST({_quoted(column.name)} AS {_duckdb_type(column)}) AS {_quoted(column.name)}"
        for column in table.columns
    ]
    return f"SELECT {', '.join(wanted)} FROM {_text_rows(source)} WHERE cstring1 LIKE '%a%' AND cstring2 LIKE '%a%'"


KNOWN = (
    Known("foodmart", "MONTH", _foodmart), Known("wikipedia", "DAY", _wikipedia),
    Known("alltypes", "DAY", _published_by_hive), Known("alltypes_small", "DAY", _small),
)  # fmt: skip


# --- generated rows --------------------------------------------------------------------------------------------------


def _synthetic(table: Table, constants: Constants) -> str:
    """JSON lines, the same in every run."""
    chance = random.Random(f"{table.name} {_column_texts(table)}")
    columns = _distinct(table)
    lines = []
    for _ in range(SYNTHETIC_ROWS):
        row = {column.field_name: _cell(column, constants, chance) for column in columns}
        lines.append(json.dumps({name: value for name, value in row.items() if value is not None}))
    return "\n".join(lines) + "\n"


TIMES = ("2010-01-01 00:00:00", "2012-03-01 00:00:00", "2019-12-31 23:59:59", "2020-06-15 12:30:00")
WORDS = ("", "a", "en", "US", "Xy z", "ä", "12", "-3.5", "2020-01-01")
NUMBERS = (0, 1, -1, 2, 3, 5, 10, 100)


def _cell(column: Column, constants: Constants, chance: random.Random) -> Any:
    type_: HiveType = column.type
    if column.name == TIME_COLUMN:
        return _moment(constants, chance)
    if chance.random() < 0.1:
        return None
    if type_.is_timestamp or type_.name == "date":
        made = datetime.fromtimestamp(_moment(constants, chance) / 1000, ZoneInfo("UTC")).replace(tzinfo=None)
        return made.date().isoformat() if type_.name == "date" else made.isoformat(" ")
    if type_.name == "boolean":
        return chance.random() < 0.5
    if type_.is_string:
        text = chance.choice(constants.texts if constants.texts and chance.random() < 0.5 else WORDS)
        return text[: type_.params[0]].rstrip(" ") if type_.params else text
    number = chance.choice(constants.numbers if constants.numbers and chance.random() < 0.3 else NUMBERS)
    if type_.is_integer:
        limit = {"tinyint": 2**7, "smallint": 2**15, "int": 2**31}.get(type_.name, 2**63)
        return int(number) if abs(number) < limit else 7
    return float(number) + chance.choice((0.0, 0.5, 0.25))


MOST_TIMES = 12
"""Times in queries near which rows are generated: each adds some segments of a day. A timeseries by the second iterates
over every second of the segments, so there are no rows far from these."""


def _moment(constants: Constants, chance: random.Random) -> int:
    """A time in milliseconds, in a query or near one."""
    step = max(1, len(constants.times) // MOST_TIMES)
    named = constants.times[::step]
    text = chance.choice(named if named and chance.random() < 0.7 else TIMES)
    zone = ZoneInfo(chance.choice(("UTC", HIVES_ZONE)))
    exact = int(datetime.fromisoformat(text).replace(tzinfo=zone).timestamp() * 1000)
    return exact + chance.choice((0, 0, -1, 1, 1000, 3_600_000, -7_200_000, chance.randrange(86_400_000)))
