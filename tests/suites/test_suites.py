"""The readers, translators and comparisons of the suites, on lines of their forms; and a run of such cases."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from hashlib import md5
from pathlib import Path
from typing import Any

import pytest

from tests.suites import drill, impala, sparksql, sqllogictest
from tests.suites.cases import Case, NotComparable, Outcome, Table
from tests.suites.comparison import TextRows, is_same_cell
from tests.suites.report import details, reasons, table
from tests.suites.running import Runner

LOGIC = """\
hash-threshold 8

statement ok
CREATE TABLE Shops(id INTEGER, city VARCHAR(9), rent FLOAT)

statement ok
INSERT INTO shops(city, id, rent) VALUES('Ulm', 7, 2.5), (NULL, 9, 4)

statement error
INSERT INTO nothing VALUES(1)

# the answer is of MySQL
onlyif mysql
query I rowsort
SELECT id DIV 2 FROM shops
----
8

skipif mysql # not compatible
query I rowsort label-1
SELECT id / 2 FROM shops
----
3
4

query TR valuesort
SELECT city, rent / 2 FROM shops
----
1.250
2.000
NULL
Ulm

query IT nosort
SELECT * FROM (SELECT id, city FROM shops) t ORDER BY 2
----
4 values hashing to DIGEST

query I nosort
SELECT 100000 * 100000
----
10000000000

query I nosort
SELECT count(*) FROM shops WHERE nope = 1
----
0

skipif sqlite
halt

onlyif sqlite
halt

query I nosort
SELECT 1
----
2
""".replace("DIGEST", md5(b"9\nNULL\n7\nUlm\n", usedforsecurity=False).hexdigest())

SPARK = """\
-- Automatically generated
-- !query
CREATE OR REPLACE TEMPORARY VIEW pairs AS SELECT * FROM VALUES
(1, 'x'), (2, null) AS pairs(a, b)
-- !query schema
struct<>
-- !query output



-- !query
SELECT a, b FROM pairs
-- !query schema
struct<a:int,b:string>
-- !query output
1	x
2	NULL


-- !query
SELECT b FROM pairs WHERE a = 3
-- !query schema
struct<b:string>
-- !query output



-- !query
SELECT c FROM pairs
-- !query schema
struct<>
-- !query output
org.apache.spark.sql.AnalysisException
{ }


-- !query
SELECT array(1)
-- !query schema
struct<array(1):array<int>>
-- !query output
[1]
"""


IMPALA = r"""\
====
---- QUERY
# the second one is a NULL
select name, zip, 'it\'s, ok' from functional.dimtbl where id > 1
---- RESULTS: VERIFY_IS_EQUAL_SORTED
'Ulm \u00e4',NULL,'it''s, ok'
---- TYPES
string, int, string
====
---- QUERY: NAMED
select id, float_col, timestamp_col from alltypestiny t where id in (1, 2);
---- RESULTS
1,1.100000023841858,2009-01-01 00:01:00
2,0,2009-02-01 00:00:00
---- TYPES
# a comment, which is no type
INT, FLOAT, TIMESTAMP
====
---- QUERY
select count(*), count(tinyint_col), count(day), max(timestamp_col) from functional_parquet.alltypesagg
where bigint_col <= 20 and day is null or timestamp_col < '2010-01-01 00:02:01'
---- RESULTS
4,2,3,2010-01-01 00:02:00.100000000
---- TYPES
bigint,bigint,bigint,timestamp
---- RUNTIME_PROFILE
row_regex: .*
====
---- QUERY
insert into t values (1)
---- RESULTS
: 1
---- TYPES
int
====
---- QUERY
with c as (select d6, cast('nan' as string) n from decimal_tbl) select * from c
---- RESULTS
1
---- TYPES
int
====
---- QUERY
select date_part, count(date_col) from date_tbl group by date_part
---- RESULTS
0001-01-01,1
2017-11-27,0
---- TYPES
date,bigint
====
---- QUERY
select count(*) from alltypes_view where month = 12
---- RESULTS
620
---- TYPES
bigint
====
---- QUERY
show tables
---- RESULTS
regex:.*
---- TYPES
string
====
---- QUERY
select id from dimtbl
---- RESULTS: VERIFY_IS_SUBSET
1
---- TYPES
bigint
====
---- QUERY
select name from dimtbl
---- RESULTS
row_regex:.*
---- TYPES
string
"""


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    runner = Runner(tmp_path / "home", spark=False)
    yield runner
    runner.close()


def verdicts(outcomes: Iterator[Outcome]) -> list[tuple[str, str]]:
    return [(outcome.verdict, outcome.reason) for outcome in outcomes]


def test_a_file_of_sqllogictest(runner: Runner, tmp_path: Path) -> None:
    Path(tmp_path, "logic.test").write_text(LOGIC, encoding="utf-8")
    cases = list(sqllogictest.cases(tmp_path, 100, 0))
    assert [case.place for case in cases] == [f"logic.test:{line}" for line in (20, 26, 34, 39, 44)]
    assert [case.sql for case in cases[:2]] == ["SELECT id  DIV  2 FROM shops", "SELECT city, rent / 2 FROM shops"]
    assert verdicts(runner.run(cases)) == [
        ("equal", ""), ("equal", ""), ("equal", ""), ("not comparable", sqllogictest.OVERFLOW),
        ("not Hive's SQL", "unknown column 'nope'"),
    ]  # fmt: skip


def test_a_sample_has_its_size_and_depends_on_its_seed(tmp_path: Path) -> None:
    queries = "\n\n".join(f"query I nosort\nSELECT {number}\n----\n{number}" for number in range(50))
    Path(tmp_path, "many.test").write_text(queries, encoding="utf-8")
    first, same, other = (
        [case.sql for case in sqllogictest.cases(tmp_path, 5, seed)] for seed in (1, 1, 2)
    )  # fmt: skip
    assert len(first) == 5
    assert first == same != other


@pytest.mark.parametrize(
    ("sql", "hive"),
    [
        ("SELECT a/b, ( a + 1 ) / - b FROM t", "SELECT a DIV b, ( a + 1 )  DIV  - b FROM t"),
        ("SELECT 3 / - a + CAST(b AS REAL) FROM t", "SELECT 3  DIV  - a + CAST(b AS REAL) FROM t"),
        ("SELECT avg(a) / 2, a / 2 FROM t", "SELECT avg(a) / 2, a  DIV  2 FROM t"),
        ("SELECT 3 / CAST(a AS REAL), 3 / r FROM t", "SELECT 3 / CAST(a AS REAL), 3 / r FROM t"),
        ("SELECT '1/2', \"A\" FROM t", "SELECT '1/2', `a` FROM t"),
    ],
)
def test_sqlites_sql_in_hives_dialect(sql: str, hive: str) -> None:
    assert sqllogictest.hive_sql(sql, frozenset({"r"})) == hive


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (None, "I", "NULL"), (2.9, "I", "2"), (True, "I", "1"), ("12 apples", "I", "12"), ("x", "I", "0"),
        (3, "R", "3.000"), (Decimal("1.5"), "T", "1.5"), ("", "T", "(empty)"), ("a\tb", "T", "a@b"),
    ],
)  # fmt: skip
def test_values_as_sqllogictest_prints_them(value: object, kind: str, text: str) -> None:
    assert sqllogictest.render(value, kind) == text


def test_drills_queries(runner: Runner) -> None:
    rows: list[dict[str, Any]] = [
        {"Day": 0, "n": 1, "s": "a", "ok": True, "x": 1},
        {"Day": 86_400_000, "n": None, "s": "b", "ok": False, "x": 0.5},
    ]
    some = drill.table_of("shops", rows)
    assert some.columns == (("day", "bigint"), ("n", "bigint"), ("s", "string"), ("ok", "boolean"), ("x", "double"))
    query = (
        'SELECT "Day", n, LAG(n) OVER (ORDER BY s), CAST(s AS VARCHAR), x FROM "shops.parquet"'
        " WHERE \"Day\" < TIMESTAMP_TO_MILLIS(TIME_PARSE('1970-01-03', 'yyyy-MM-dd'));\n"
    )
    expected = "1970-01-01\t1\tnull\ta\t1.0\n1970-01-02 00:00:00\tnull\t1\tb\t0.5\n"
    case = drill.case("a.q", query, expected, (some,))
    assert case.sql.endswith("CAST(s AS STRING), x FROM shops WHERE `Day` < 172800000")
    other = drill.case("b.q", "SELECT 1 FROM wikipedia", "1\n", (some,))
    wrong = drill.case("c.q", "SELECT count(n) FROM shops", "2\n", (some,))
    outcomes = list(runner.run([case, other, wrong, drill.case("d.q", "SELECT 1", None, ())]))
    assert verdicts(iter(outcomes)) == [
        ("equal", ""), ("not comparable", "the rows of wikipedia are not in the jar"), ("wrong", "other rows"),
        ("not comparable", "no rows are listed"),
    ]  # fmt: skip
    assert table({"drill": outcomes}).splitlines()[-1] == "| drill | 4 | 1 | 1 | 0 | 0 | 0 | 2 |"
    assert "drill: wrong: 1 other rows\n" in reasons({"drill": outcomes})
    listed = details({"drill": outcomes})
    assert listed.startswith("-- wrong: c.q: other rows\n")
    assert {"SELECT count(n) FROM shops;", "-- expected: 2", "-- row: (1,)"} <= set(listed.splitlines())


def test_impalas_queries(runner: Runner, tmp_path: Path) -> None:
    Path(tmp_path, "some.test").write_text(IMPALA, encoding="utf-8")
    Path(tmp_path, "DimTbl").mkdir()
    Path(tmp_path, "DimTbl", "data.csv").write_text("1,Rom,7\n2,Ulm ä,\\N\n", encoding="utf-8")
    dates = Path(tmp_path, "data", "date_tbl")
    dates.mkdir(parents=True)
    for number, lines in enumerate(("1,2017-1-1\n", "", "2,\\N\n", "")):
        Path(dates, f"{number}.txt").write_text(lines, encoding="utf-8")
    cases = list(impala.cases(tmp_path))
    assert [case.place for case in cases] == [f"some:{number}" for number in (2, 3, 4, 6, 7, 8, 10, 11)]
    assert cases[0].sql == "select name, zip, 'it\\'s, ok' from dimtbl where id > 1"
    assert cases[0].expected.text == "Ulm ä\tNULL\tit's, ok"
    assert verdicts(runner.run(cases)) == [
        ("equal", ""),
        ("equal", ""),
        ("equal", ""),
        ("not comparable", "the rows of decimal_tbl are not rebuilt"),
        ("equal", ""),
        ("equal", ""),
        ("not comparable", "not all of its rows are listed"),
        ("not comparable", "its rows or tables are patterns"),
    ]


def test_sparks_results(runner: Runner) -> None:
    cases = list(sparksql.of_script("pairs", SPARK))
    assert cases[0].views == (
        "CREATE OR REPLACE VIEW pairs AS SELECT * FROM (VALUES (1, 'x'), (2, null)) AS pairs(a, b)",
    )
    assert verdicts(runner.run(cases)) == [
        ("equal", ""),
        ("equal", ""),
        ("not comparable", "a column is of type ARRAY"),
    ]


def test_a_query_that_needs_spark_is_counted(runner: Runner) -> None:
    case = Case(
        "a",
        "",
        "SELECT percentile_approx(n, 0.5) FROM t",
        TextRows((("1",),)),
        (Table("t", (("n", "bigint"),), ((1,),)),),
    )
    assert runner.outcome(case).verdict == "needs Spark"


def test_tables_are_replaced_by_those_of_the_next_case(runner: Runner) -> None:
    for number in (1, 2):
        shops = Table("shops", (("n", "bigint"),), ((number,),))
        assert (
            runner.outcome(Case("a", "", "SELECT * FROM shops", TextRows(((str(number),),)), (shops,))).verdict
            == "equal"
        )


@pytest.mark.parametrize(
    ("value", "text", "is_same"),
    [
        (None, "NULL", True), (0, "NULL", False), (None, "0", False), (True, "true", True), (1, "1.0", True), (1, "2", False),
        (2**60, str(2**60 + 1), False), (0.1 + 0.2, "0.3", True), (0.1, "x", False), (float("nan"), "NaN", True),
        (Decimal("1.50"), "1.5", True), (46_029_300, "12:47:09.300", True), (0, "1970-01-01", True), (1, "a", False),
        (date(2020, 1, 2), "2020-01-02", True), (datetime(2020, 1, 2), "2020-01-02 00:00:00", True), ("a ", "a", True),
    ],
)  # fmt: skip
def test_cells(value: object, text: str, is_same: bool) -> None:
    assert is_same_cell(value, text, "NULL") is is_same


def test_nested_values_are_not_comparable() -> None:
    with pytest.raises(NotComparable):
        is_same_cell([1], "[1]", "NULL")


def test_rows_are_compared_in_any_order_and_as_often() -> None:
    listed = TextRows((("1",), ("1",), ("2",)))
    assert listed.matches([(2,), (1,), (1,)])
    assert not listed.matches([(2,), (2,), (1,)])
    assert not listed.matches([(2,), (1,)])
