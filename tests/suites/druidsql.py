"""The tests of Druid's SQL: methods of Java that pass a query, its native queries and its rows to `testQuery`.

Their tables are lists of maps in another class of the same jar. What the code of these methods passes is read from the class
files (`bytecode.py`). Druid's columns of several values are ones that Hive does not have: they are loaded with their
first value, and a query with their name is not comparable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from zipfile import ZipFile

from tests.suites.bytecode import Call, NotConstant, calls, milliseconds
from tests.suites.cases import Case, Row, Table
from tests.suites.classfile import ClassFile, Float, read_class
from tests.suites.comparison import ValueRows
from tests.suites.jars import open_jar

TESTS = "org/apache/druid/sql/calcite/"
ROWS = f"{TESTS}util/TestDataBuilder.class"
_FOO = (
    ("__time", "timestamp"), ("dim1", "string"), ("dim2", "string"), ("dim3", "string"), ("cnt", "bigint"),
    ("m1", "float"), ("m2", "double"),
)  # fmt: skip
_FOO2 = tuple((name, "bigint" if name in ("dim3", "m1") else type_) for name, type_ in _FOO)
_X = tuple((name if name == "__time" else f"{name}_x", type_) for name, type_ in _FOO)
_NUMBERS = (
    ("dbl1", "double"), ("dbl2", "double"), ("f1", "float"), ("f2", "float"), ("l1", "bigint"), ("l2", "bigint"),
)  # fmt: skip
_NUMFOO = (*_FOO[:4], *((f"dim{number}", "string") for number in (4, 5, 6)), *_NUMBERS, *_FOO[4:])
_BROADCAST = (*_NUMFOO[:6], *_NUMBERS)
_MANY = (
    ("__time", "timestamp"), ("count", "bigint"), ("dimhyperunique", "string"), ("dimsequential", "string"),
    ("dimsequentialhalfnull", "string"), ("dimuniform", "string"), ("dimzipf", "string"), ("metfloatnormal", "string"),
    ("metfloatzipf", "string"), ("metlongsequential", "string"), ("metlonguniform", "string"),
)  # fmt: skip
_VISITS = (("__time", "timestamp"), ("user", "string"), ("country", "string"), ("city", "string"))
TABLES: Mapping[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "foo": ("RAW_ROWS1", _FOO),
    "foo2": ("RAW_ROWS2", _FOO2),
    "foo4": ("RAW_ROWS1_WITH_FULL_TIMESTAMP", _FOO),
    "numfoo": ("RAW_ROWS1_WITH_NUMERIC_DIMS", _NUMFOO),
    "broadcast": ("RAW_ROWS1_WITH_NUMERIC_DIMS", _BROADCAST),
    "some_datasource": ("RAW_ROWS1", _FOO),
    "somexdatasource": ("RAW_ROWS1_X", _X),
    "forbiddendatasource": ("FORBIDDEN_ROWS", _FOO),
    "lotsocolumns": ("ROWS_LOTS_OF_COLUMNS", _MANY),
    "visits": ("USER_VISIT_ROWS", _VISITS),
}
"""The field with the rows, and the columns; sketches (`unique_dim1`) are not among them."""
UNLIKE_HIVE: Mapping[str, tuple[str, ...]] = {
    "in Druid, an empty substring is NULL": (
        "testTopNFilterJoinWithProjection", "testGroupByWithSelectProjections", "testGroupByWithSelectAndOrderByProjections",
        "testTopNWithSelectAndOrderByProjections", "testCountStarOnCommonTableExpression",
    ),
    "its context limits the rows": (
        "testTopNLimitWrapping", "testTopNLimitWrappingOrderByAgg", "testGroupByLimitWrapping", "testSelectLimitWrapping",
        "testGroupByLimitWrappingOrderByAgg", "testQueryContextOuterLimit", "testQueryContextOuterLimit:2", "testSelectLimitWrappingOnTopOfOffset",
        "testSelectLimitWrappingOnTopOfOffsetAndHighLimit",
    ),
    "its context has rows of empty buckets": ("testTimeseriesDontSkipEmptyBuckets",),
    "its context has no row for no rows": ("testSelectCountStar:3",),
    "in Hive, '1999' is not a timestamp": (
        "testLeftJoinOnTwoInlineDataSourcesWithTimeFilter",
        "testLeftJoinOnTwoInlineDataSourcesWithTimeFilter_withLeftDirectAccess",
    ),
    "in Hive, a quotient of integers is a double": ("testExpressionFilteringAndGroupingUsingCastToLong",),
    "in Hive, a quotient by 0 is NULL": ("testSelectNonNumericNumberLiterals",),
    "in Hive, greatest of a NULL is NULL": ("testGreatestFunctionForNumberWithIsNull",),
    "Hive has no such aggregates of bits, and Druid's begin with 0": ("testBitwiseAggregatorsGroupBy",),
}  # fmt: skip
"""Methods whose queries have other rows in Hive."""


def cases() -> Iterator[Case]:
    with open_jar("druid-sql-tests") as jar:
        tables = _tables(jar)
        for name in sorted(jar.namelist()):
            if name.startswith(f"{TESTS}Calcite") and name.endswith("QueryTest.class"):
                test = name.removeprefix(TESTS).removesuffix(".class")
                yield from of_class(test, read_class(jar.read(name)), tables)


def of_class(test: str, file: ClassFile, tables: Sequence[Table]) -> Iterator[Case]:
    """The queries with rows of a class of tests, by the name of their method."""
    for method in file.methods:
        if "lambda$" in method:  # it expects an error
            continue
        try:
            made = [found for call in calls(file, method) if (found := _query(call)) is not None]
        except NotConstant:
            continue
        for number, (sql, rows, passed) in enumerate(made):
            name = method.partition("(")[0]
            yield case(f"{test}.{name}{f':{number + 1}' if number else ''}", sql, rows, passed, tables)


# --- what a test passes -----------------------------------------------------------------------------------------------


def _query(call: Call) -> tuple[str, list[Any], list[Any]] | None:
    """The SQL, the rows and everything else that a test passes to `testQuery(…)` or `testBuilder()….run()`."""
    if call.member.name == "testQuery":
        arguments = call.arguments
    elif call.member.name == "run" and call.member.owner.endswith("QueryTestBuilder"):
        arguments = [value for one in call.chain() for value in one.arguments if one.member.name in _PARTS]
    else:
        return None
    texts = [value for value in arguments if isinstance(value, str)]
    lists = [value for value in arguments if isinstance(value, list) and all(isinstance(row, list) for row in value)]
    return (texts[0], lists[-1], arguments) if texts and lists else None


_PARTS = frozenset(("sql", "expectedResults", "queryContext", "plannerConfig", "parameters", "skipVectorize"))


def case(place: str, sql: str, rows: list[Any], passed: Sequence[Any], tables: Sequence[Table]) -> Case:
    texts = " ".join(repr(value) for value in passed if isinstance(value, Call | dict))
    try:
        expected = ValueRows(tuple(tuple(_value(value) for value in row) for row in rows))
        method = place.partition(".")[2]
        reason = _reason(sql, texts) or next((why for why, names in UNLIKE_HIVE.items() if method in names), "")
    except NotConstant as error:
        expected, reason = ValueRows(()), str(error)
    used = tuple(table for table in tables if re.search(rf"\b{table.name}\b", sql, re.IGNORECASE))
    return Case(place, sql, hive_sql(sql), expected, used, reason=reason)


def _value(value: Any) -> Any:
    if isinstance(value, Call):
        raise NotConstant("its rows are computed")
    return [_value(one) for one in value] if isinstance(value, list) else value


def _reason(sql: str, passed: str) -> str:
    """Why a query is not comparable."""
    if (found := _OTHER.search(sql)) is not None:
        return f"{found[0].lower()} is a column of several values, of a sketch or of JSON, or a table that is not in the jar"
    if re.search(r"SELECT\s+\*|\w\.\*", sql, re.IGNORECASE) and "VALUES" not in sql.upper():
        return "SELECT * has columns of several values"
    if "?" in re.sub(r"'[^']*'", "", sql):
        return "a query with parameters"
    if "LOS_ANGELES" in passed:
        return "the time zone of its session is another one"
    if re.search(r"\bLIMIT\b", sql, re.IGNORECASE) and not re.search(r"\bORDER\s+BY\b", sql, re.IGNORECASE):
        return "LIMIT without ORDER BY returns any rows"
    return ""


_OTHER = re.compile(
    r"\b(dim3(_x)?|unique_dim1(_x)?|dimMultival\w*|wikipedia\w*|arrays|nested\w*|lookyloo\w*|lookup|mixed\w*"
    r"|all_auto\w*|sys|INFORMATION_SCHEMA|benchmark_ds|bfoo|druid_\w+|restricted\w*|extern|tbl\w*)\b",
    re.IGNORECASE,
)


# --- tables -----------------------------------------------------------------------------------------------------------


def _tables(jar: ZipFile) -> tuple[Table, ...]:
    stores = calls(read_class(jar.read(ROWS)), "<clinit>()V")
    rows = {call.arguments[0]: call.arguments[1] for call in stores if call.member.name == "putstatic"}
    return tuple(table(name, columns, rows[field]) for name, (field, columns) in TABLES.items())


def table(name: str, columns: tuple[tuple[str, str], ...], rows: Sequence[Any]) -> Table:
    return Table(name, columns, tuple(_row(_map(row), columns) for row in rows))


def _map(row: Any) -> Mapping[str, Any]:
    """A row, which is a map, or a call with one, or with the time, dim1, dim2 and m1."""
    if isinstance(row, dict):
        return row
    maps: list[Mapping[str, Any]] = [value for value in row.arguments if isinstance(value, dict)]
    if not maps:
        return dict(zip(("t", "dim1", "dim2", "m1"), row.arguments, strict=True))
    times = [value for value in row.arguments if isinstance(value, str)]
    return {"t": times[0], **maps[0]} if times else maps[0]


def _row(row: Mapping[str, Any], columns: Sequence[tuple[str, str]]) -> Row:
    values = {name.lower(): _first(value) for name, value in row.items()}
    time = values.get("timestamp")
    fixed = {"__time": milliseconds(values["t"]) if time is None else time, "cnt": 1, "cnt_x": 1, "count": 1}
    return tuple(_typed({**values, **fixed}.get(name), type_) for name, type_ in columns)


def _first(value: Any) -> Any:
    value = value[0] if isinstance(value, list) and value else value
    return value.value if isinstance(value, Float) else None if value == [] else value


def _typed(value: Any, type_: str) -> Any:
    """Druid's parser reads a metric from a string."""
    return float(value) if isinstance(value, str) and type_ in ("float", "double") else value


# --- translation ------------------------------------------------------------------------------------------------------

_TOKEN = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|[A-Za-z_]\w*|\d+\.\d*|\d+|\|\||\S|\s+")
_SCHEMA = re.compile(r'\b"?druid"?\s*\.\s*(?="?\w)', re.IGNORECASE)


def hive_sql(sql: str) -> str:
    """A query in Hive's dialect: names with backticks, without a schema; VARCHAR is STRING."""
    text = "".join(_token(token) for token in _TOKEN.findall(_SCHEMA.sub("", sql.strip().rstrip(";"))))
    text = re.sub(r"(?i)\bAS\s+VARCHAR(\s*\(\s*\d+\s*\))?\s*\)", "AS STRING)", text)
    return re.sub(r"(?i)\bOFFSET\s+(\d+)\s+LIMIT\s+(\d+)|\bLIMIT\s+(\d+)\s+OFFSET\s+(\d+)", _limit, text)


def _limit(found: re.Match[str]) -> str:
    return f"LIMIT {found[1] or found[4]}, {found[2] or found[3]}"


def _token(token: str) -> str:
    if token[0] == '"':
        return f"`{token[1:-1]}`"
    return (
        f"'{token[1:-1].replace(chr(92), chr(92) * 2).replace(chr(39) * 2, chr(92) + chr(39))}'"
        if token[0] == "'"
        else token
    )
