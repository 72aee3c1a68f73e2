"""Spark's sql-tests: a file of results has each statement, the schema and the rows. Views of values are Hive's, too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.suites.cases import Case
from tests.suites.comparison import TextRows
from tests.suites.jars import open_jar

RESULTS = "sql-tests/results/"
SCRIPTS = [
    "count",
    "group-by",
    "group-by-ordinal",
    "group-by-alias",
    "group-analytics",
    "grouping_set",
    "having",
    "order-by",
    "order-by-ordinal",
    "order-by-nulls-ordering",
    "limit",
    "union",
    "except",
    "except-all",
    "intersect-all",
    "cte",
    "inner-join",
    "outer-join",
    "cross-join",
    "join-empty-relation",
    "using-join",
    "natural-join",
    "window",
    "null-handling",
    "null-propagation",
    "predicate-functions",
    "table-aliases",
    "pred-pushdown",
    "comparator",
    "conditional-functions",
]
FOLDERS = ("subquery/in-subquery", "subquery/exists-subquery", "subquery/scalar-subquery")
"""What is in Hive's SQL: neither functions and literals of Spark, nor errors, nor its own statements."""
UNLIKE_HIVE: dict[str, dict[str, tuple[int, ...]]] = {
    "Hive 4.0.1 counts equal grouping sets once": {
        "group-analytics": (17, 38, 39, 42, 48, 52), "grouping_set": (18, 19, 20),
    },
    "in Hive 4.0.1, a + b and b + a are two keys": {"grouping_set": (13,)},
    "Hive 4.0.1 evaluates set operations from the left": {"intersect-all": (11, 12)},
    "in Hive 4.0.1, the column of a full join with USING is the left one": {"using-join": (25, 26, 31, 32, 33)},
    "in Hive 4.0.1, EXISTS of an aggregate without keys is TRUE": {
        "subquery/exists-subquery/exists-count-bug": (12, 13, 14, 15, 17),
    },
    "Hive 4.0.1 fails; in SQL, a correlated count of no rows is 0": {"subquery/in-subquery/in-count-bug": (14, 15, 16, 17, 18)},
    "in Hive 4.0.1, a value is NULL, not FALSE, IN other values and NULL": {"subquery/in-subquery/in-group-by": (25,)},
    "in Hive 4.0.1, NULL IN no rows is FALSE": {"subquery/in-subquery/in-null-semantics": (25, 27)},
    "in Hive 4.0.1, a group of no rows has no count": {"subquery/scalar-subquery/scalar-subquery-count-bug": (19, 20)},
    "a setting of Spark allows several rows of a scalar subquery": {"subquery/scalar-subquery/scalar-subquery-group-by": (23,)},
    "rand(0) has other numbers": {"subquery/scalar-subquery/scalar-subquery-select": (26,)},
}  # fmt: skip
"""Queries to which Hive, when it was asked, gave hivedruid's rows and not Spark's, by the number in their script. Hive has no
GROUP BY a, CUBE(a, b): it was asked for the same sets."""
COMPLEX = re.compile(r"(?<=[:<])(array|map|struct|interval|variant|binary)\b")


@dataclass(frozen=True)
class Item:
    """A statement of a file with its schema and its rows, which are an exception's text for an error."""

    sql: str
    schema: str
    output: str

    @property
    def is_error(self) -> bool:
        return re.match(r"(org|java)\.[\w.]+\s*\{?", self.output) is not None


def items(text: str) -> Iterator[Item]:
    for block in text.split("-- !query\n")[1:]:
        sql, _, rest = block.partition("\n-- !query schema\n")
        schema, _, output = rest.partition("\n-- !query output\n")
        yield Item(sql.strip(), schema.strip(), output.removesuffix("\n\n").removesuffix("\n").removesuffix("\n"))


def cases() -> Iterator[Case]:
    with open_jar("spark-sql-tests") as jar:
        names = [name.removeprefix(RESULTS) for name in jar.namelist() if name.startswith(RESULTS)]
        for name in sorted(names):
            script = name.removesuffix(".sql.out")
            if script in SCRIPTS or script.rpartition("/")[0] in FOLDERS:
                yield from of_script(script, jar.read(RESULTS + name).decode())


def of_script(script: str, text: str) -> Iterator[Case]:
    views: tuple[str, ...] = ()
    for number, item in enumerate(items(text), 1):
        if re.match(r"(?i)create\b.*\bview\b", item.sql):
            views = (*views, hive_sql(item.sql))
        elif re.match(r"(?i)(select|with|\()", item.sql) and not item.is_error:
            yield _case(f"{script}:{number}", item, views)


def _case(place: str, item: Item, views: tuple[str, ...]) -> Case:
    found = COMPLEX.search(item.schema)
    rows = tuple(tuple(line.split("\t")) for line in item.output.split("\n") if item.output)
    reason = f"a column is of type {found[1].upper()}" if found else _difference(place)
    if re.search(r"(?i)\blimit\b", item.sql) and not re.search(r"(?i)\border\s+by\b", item.sql):
        reason = reason or "LIMIT without ORDER BY returns any rows"
    return Case(place, item.sql, hive_sql(item.sql), TextRows(rows), views=views, reason=reason)


def _difference(place: str) -> str:
    script, _, number = place.partition(":")
    return next((why for why, scripts in UNLIKE_HIVE.items() if int(number) in scripts.get(script, ())), "")


def hive_sql(sql: str) -> str:
    """A statement in Hive's dialect: a view is no temporary one, VALUES has parentheses and an alias."""
    text = re.sub(
        r"(?is)^create\s+(or\s+replace\s+)?(global\s+)?(temp(orary)?\s+)?view\b", "CREATE OR REPLACE VIEW", sql
    )
    return re.sub(r"(?is)\b(from|as)\s+values\s*(.*?)\s*\bas\s+(\w+\s*\([^)]*\))", _values, text)


def _values(found: re.Match[str]) -> str:
    """`1, 2` are rows of one column."""
    rows = found[2] if found[2].startswith("(") else ", ".join(f"({row.strip()})" for row in found[2].split(","))
    start = "FROM" if found[1].lower() == "from" else "AS SELECT * FROM"
    return f"{start} (VALUES {rows}) AS {found[3]}"
