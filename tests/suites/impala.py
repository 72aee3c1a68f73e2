"""Impala's functional-query: files of sections, whose queries have rows and types.

Tables of Impala's generator of data are rebuilt by its rule, and small ones from the files of their rows. A query over
other tables is not comparable, and so are those with options, changes of tables, and rows that are patterns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import sha1
from pathlib import Path
from typing import Any

from tests.suites.cases import Case, Row, Table
from tests.suites.comparison import TextRows

ALL_TYPES = (
    ("id", "int"), ("bool_col", "boolean"), ("tinyint_col", "tinyint"), ("smallint_col", "smallint"), ("int_col", "int"),
    ("bigint_col", "bigint"), ("float_col", "float"), ("double_col", "double"), ("date_string_col", "string"),
    ("string_col", "string"), ("timestamp_col", "timestamp"), ("year", "int"), ("month", "int"),
)  # fmt: skip
_NULLS = (
    ("a", "string"), ("b", "string"), ("c", "string"), ("d", "int"), ("e", "double"), ("f", "string"), ("g", "string"),
)  # fmt: skip
_DECIMALS = tuple(
    (f"d{digits}_{scale}", f"decimal({digits},{scale})")
    for digits, half in ((5, 3), (9, 5), (14, 7), (18, 9), (28, 14), (38, 19))
    for scale in (0, 1, half, digits)
)
FILES: Mapping[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "dimtbl": ("DimTbl/data.csv", (("id", "bigint"), ("name", "string"), ("zip", "int"))),
    "jointbl": (
        "JoinTbl/data.csv",
        (("test_id", "bigint"), ("test_name", "string"), ("test_zip", "int"), ("alltypes_id", "int")),
    ),
    "liketbl": (
        "LikeTbl/data.csv",
        tuple((f"{name}col", "string") for name in ("str_", "match_like_", "no_match_like_", "match_regex_", "no_match_regex_")),
    ),
    "nullrows": (
        "NullRows/data.csv",
        (
            ("id", "string"), ("blank", "string"), ("null_str", "string"), ("null_int", "int"), ("null_double", "double"),
            ("group_str", "string"), ("some_nulls", "string"), ("bool_nulls", "boolean"),
        ),
    ),
    "tinyinttable": ("TinyIntTable/data.csv", (("int_col", "int"),)),
    "tinytable": ("TinyTable/data.csv", (("a", "string"), ("b", "string"))),
    "nulltable": ("NullTable/data.csv", _NULLS),
    "nullescapedtable": ("NullTable/data.csv", _NULLS),
    "chars_tiny": ("data/chars-tiny.txt", (("cs", "char(5)"), ("cl", "char(140)"), ("vc", "varchar(32)"))),
    "decimal_tbl": (
        "data/decimal_tbl.txt",
        (
            ("d1", "decimal(9,0)"), ("d2", "decimal(10,0)"), ("d3", "decimal(20,10)"), ("d4", "decimal(38,38)"),
            ("d5", "decimal(10,5)"), ("d6", "decimal(9,0)"),
        ),
    ),
    "decimal_rtf_tbl": ("data/decimal_rtf_tbl.txt", (*_DECIMALS, ("dpc", "decimal(9,0)"))),
    "decimal_rtf_tiny_tbl": ("data/decimal_rtf_tiny_tbl.txt", (*_DECIMALS, ("dpc", "decimal(9,0)"))),
    "date_tbl": ("data/date_tbl", (("id_col", "int"), ("date_col", "date"), ("date_part", "date"))),
    "decimal_tiny": (
        "data/decimal-tiny.txt", (("c1", "decimal(10,4)"), ("c2", "decimal(15,5)"), ("c3", "decimal(1,1)")),
    ),
}  # fmt: skip
"""The files of rows, which may be beside those of the queries, and their columns."""
EMPTY: Mapping[str, tuple[tuple[str, str], ...]] = {
    "emptytable": (("field", "string"), ("f2", "int")),
    "testtbl": (("id", "bigint"), ("name", "string"), ("zip", "int")),
}
VIEWS = {"alltypes_view": "alltypes", "alltypes_hive_view": "alltypes", "alltypes_nonpartitioned": "alltypes"}
DIFFERENCES = Path(__file__).with_name("impala.json")
"""Queries with other rows by Hive's rules: digests of their texts by the reason."""


@dataclass(frozen=True)
class Section:
    name: str
    options: str
    text: str


def sections(test: str) -> Iterator[tuple[Section, ...]]:
    """The sections of each test of a file."""
    for block in re.split(r"(?m)^====.*\n?", test):
        parts = re.split(r"(?m)^---- ?([A-Z][\w-]*)[ \t]*:?[ \t]*(.*)\n", block)
        yield tuple(Section(*parts[place : place + 3]) for place in range(1, len(parts), 3))


def cases(folder: Path) -> Iterator[Case]:
    tables = {table.name: table for table in _tables(folder)}
    for path in sorted(folder.rglob("*.test")):
        text = path.read_text(encoding="utf-8", errors="replace")
        for number, test in enumerate(sections(text), 1):
            by_name = {section.name: section for section in test}
            if "QUERY" in by_name and "RESULTS" in by_name and "TYPES" in by_name:
                sql, types = (re.sub(r"(?m)^\s*#.*\n?", "", by_name[name].text).strip() for name in ("QUERY", "TYPES"))
                sql = sql.rstrip(";").strip()
                if re.match(r"(?i)(select|with|\(|values)\b", sql):
                    yield case(f"{path.stem}:{number}", sql, by_name["RESULTS"], types, tables)


def case(place: str, sql: str, results: Section, types: str, tables: Mapping[str, Table]) -> Case:
    kinds = tuple(type_.strip().lower() for type_ in types.strip().split(","))
    rows = tuple(_cells(line, kinds) for line in results.text.splitlines())
    names = {name.lower() for name in _TABLE.findall(sql)}
    used = tuple(table for name, table in tables.items() if name in {VIEWS.get(name, name) for name in names})
    views = tuple(
        f"CREATE OR REPLACE VIEW {view} AS SELECT * FROM {VIEWS[view]}" for view in sorted(names & set(VIEWS))
    )
    return Case(
        place,
        sql,
        hive_sql(sql),
        TextRows(rows, kinds=kinds),
        used,
        views,
        reason=_reason(place, sql, results, types, names, tables),
    )


def _reason(place: str, sql: str, results: Section, types: str, names: set[str], tables: Mapping[str, Table]) -> str:
    """Why a query is not comparable."""
    digest = sha1(" ".join(sql.split()).encode(), usedforsecurity=False).hexdigest()[:8]
    if (reason := _differences().get(digest)) is not None:
        return reason
    if re.search(r"(?m)^(row_)?regex:|\$(DATABASE|FILESYSTEM|NAMENODE)", results.text + sql):
        return "its rows or tables are patterns"
    if "SUBSET" in results.options or "NOT_IN" in results.options or "MULTI" in results.options:
        return "not all of its rows are listed"
    if (found := re.search(r"(?i)\b(array|map|struct|binary)\b", types)) is not None:
        return f"a column is of type {found[0].upper()}"
    if (own := _OTHER_ROWS.match(place)) is not None:
        return f"the tables of {own[1]} have other rows"
    ctes = {name.lower() for name in re.findall(r"(?i)(?:\bwith|,)\s+(\w+)\s*(?:\([\w\s,]*\))?\s+as\s*\(", sql)}
    if (missing := sorted(names - set(tables) - set(VIEWS) - ctes)) and not missing[0].isdigit():
        return (
            f"the rows of {missing[0]} are not rebuilt"
            if len(missing[0]) < 20
            else "the rows of a table are not rebuilt"
        )
    if re.search(r"(?i)\blimit\b", sql) and not re.search(r"(?i)\border\s+by\b", sql):
        return "LIMIT without ORDER BY returns any rows"
    return ""


_OTHER_ROWS = re.compile(r"(ranger|hbase|kudu|avro_date|multiple-filesystems|full-acid|alltypes-fk|no-block)")


@cache
def _differences() -> dict[str, str]:
    listed = json.loads(DIFFERENCES.read_text(encoding="utf-8")) if DIFFERENCES.exists() else {}
    return {digest: reason for reason, digests in listed.items() for digest in digests}


_CELL = re.compile(r"'((?:[^'\\]|\\.|'')*)'(?=,|$)|([^,]*)")


def _cells(line: str, kinds: Sequence[str]) -> tuple[str, ...]:
    """The cells of a row: strings have quotes."""
    cells, place = [], 0
    for kind in kinds:
        found = _CELL.match(line, place)
        assert found is not None
        cells.append(_cell(found[1], kind) if found[1] is not None else found[2].strip())
        place = found.end() + 1
    return tuple(cells) if place >= len(line) else (*cells, line[place:])


def _cell(text: str, kind: str) -> str:
    if kind in ("timestamp", "date"):
        return text
    return _ESCAPE.sub(_character, text.replace("''", "'"))


_ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|x([0-9a-f]{2})|(.))")


def _character(found: re.Match[str]) -> str:
    code = found[1] or found[2]
    return chr(int(code, 16)) if code else {"n": "\n", "t": "\t", "r": "\r"}.get(found[3], found[3])


# --- tables -----------------------------------------------------------------------------------------------------------


def _tables(folder: Path) -> Iterator[Table]:
    for name, months, count in (("alltypes", 24, 310), ("alltypessmall", 4, 25), ("alltypestiny", 4, 2)):
        yield Table(name, ALL_TYPES, tuple(_all_types(months, count)))
    for name, has_nulls in (("alltypesagg", True), ("alltypesaggnonulls", False)):
        yield Table(name, (*ALL_TYPES, ("day", "int")), tuple(_days(has_nulls)))
    for name, columns in EMPTY.items():
        yield Table(name, columns, ())
    for name, (path, columns) in FILES.items():
        if (file := folder / path).exists():
            yield Table(name, columns, tuple(_fields(line, columns) for line in _lines(file)))


PARTITIONS = ("0001-01-01", "1399-06-27", "2017-11-27", "9999-12-31")
"""Those of `date_tbl`, in the order of its files."""


def _lines(file: Path) -> Iterator[str]:
    """The lines of a file, or those of the files of a folder with their partitions."""
    files = zip(sorted(file.iterdir()), PARTITIONS, strict=True) if file.is_dir() else [(file, "1")]
    for one, partition in files:
        yield from (f"{line},{partition}" for line in one.read_text(encoding="utf-8").splitlines())


def _fields(line: str, columns: Sequence[tuple[str, str]]) -> Row:
    """The values of a line. What is beyond the columns is the partition of a table without partitions."""
    fields = zip(line.split(","), columns, strict=False)
    return tuple(None if field == "\\N" else _value(field, type_) for field, (_, type_) in fields)


def _value(field: str, type_: str) -> Any:
    if (length := re.fullmatch(r"(?:var)?char\((\d+)\)", type_)) is not None:
        return field[: int(length[1])]
    return _READERS.get(type_, str)(field)


def _date(text: str) -> str:
    """`2017-11-3` as text."""
    return "-".join(part.zfill(2) for part in text.split("-"))


_READERS: Mapping[str, Callable[[str], Any]] = {
    "int": int, "bigint": int, "double": float, "boolean": lambda text: text == "true", "date": _date,
}  # fmt: skip


def _all_types(months: int, count: int) -> Iterator[Row]:
    """Rows of Impala's generator: ten a day, up to `count` a month."""
    number = 0
    for month in range(months):
        start = datetime(2009 + month // 12, month % 12 + 1, 1, tzinfo=UTC)
        end = datetime(2009 + (month + 1) // 12, (month + 1) % 12 + 1, 1, tzinfo=UTC)
        for values in _partition(number, start, end, 10, count):
            yield (*values, start.year, start.month)
            number += 1


def _partition(number: int, start: datetime, end: datetime, per_day: int, count: int) -> Iterator[tuple[Any, ...]]:
    time, last = start, number + count
    while time < end and number < last:
        for n in range(min(per_day, last - number)):
            yield (
                number, number % 2 == 0, n % 10, n % 100, n, n * 10, n * 1.1, 10.1 * n, f"{time:%m/%d/%y}", str(n),
                _milliseconds(time),
            )  # fmt: skip
            number += 1
            time += timedelta(minutes=1, milliseconds=n * 10)
        time += timedelta(days=1)


def _milliseconds(time: datetime) -> int:
    """The generator writes the milliseconds without leading zeros: `.10` is read as a tenth of a second."""
    fraction = str(time.microsecond // 1000).ljust(3, "0")
    return int(time.timestamp()) * 1000 + int(fraction)


def _days(has_nulls: bool) -> Iterator[Row]:
    """A thousand rows of each of ten days. With NULL for 0, those without a TINYINT also are in a partition without a day."""
    for day in range(10):
        start = datetime(2010, 1, 1 + day, tzinfo=UTC)
        for values in _partition(day * 1000, start, start + timedelta(days=1), 1000, 1000):
            row = list(values)
            if has_nulls:
                row[2:8] = [None if value == 0 else value for value in row[2:8]]
            yield (*row, 2010, 1, day + 1)
            if has_nulls and row[2] is None:
                yield (*row, 2010, 1, None)


# --- translation ------------------------------------------------------------------------------------------------------

_TABLE = re.compile(r"(?i)(?:\bfrom|\bjoin)\s+(?:\[\w+\]\s*)?(?:functional(?:_\w+)?\.)?([a-z_][\w.]*)(?!\s*\()")


def hive_sql(sql: str) -> str:
    """A query in Hive's dialect: tables have no database; a string in double quotes is Hive's, too."""
    text = re.sub(r"(?i)\bfunctional(_\w+)?\.(?=\w)", "", sql)
    text = re.sub(r"(?i)\b(inner|left|right|full|cross|semi|anti|outer)?(\s+)straight_join\b", r"\1\2", text)
    return re.sub(r"(?i)\blimit\s+(\d+)\s+offset\s+(\d+)", r"LIMIT \2, \1", text)
