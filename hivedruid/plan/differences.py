"""Where hivedruid does not answer as Hive 4.0.1 does, and why. docs/hive-differences.md is made from this table.

`python -m hivedruid.plan.differences` prints the page.
"""

from __future__ import annotations

from typing import NamedTuple


class Difference(NamedTuple):
    """One construct; `hive` and `ours` say what each of the two answers."""

    construct: str
    hive: str
    ours: str
    reason: str


LIMITS: tuple[Difference, ...] = (
    Difference(
        "`ORDER BY`, `min`, `max`, `<` of texts with characters from U+E000 on beside others beyond U+FFFF",
        "orders by characters",
        "Druid orders by UTF-16 units: `'😀'` before `'ｚ'`; a comparison with a constant of such characters is left to Spark",
        "Druid's dictionaries, sorts and comparisons are of Java strings",
    ),
    Difference(
        "`TIMESTAMP '2020-01-01 00:00:00.123456789'`",
        "keeps nine digits of the second",
        "keeps six digits: `….123456`",
        "Spark's timestamps have microseconds, Druid's milliseconds",
    ),
    Difference(
        "`INTERVAL '1.123456789' SECOND`",
        "keeps nine digits of the second",
        "keeps six digits and shows three zeros behind them",
        "Spark's intervals have microseconds",
    ),
    Difference(
        "`interval_day_time('106751991 00:00:00')`, `interval_year_month('178956970-0')` and longer ones",
        "intervals of up to 2147483647 days; more years than 178956970 turn negative",
        "NULL",
        "Spark's intervals are 64 bits of microseconds and 32 bits of months",
    ),
    Difference(
        "`mask(date)`, whose year is 0 unless it is told otherwise",
        "`0000-01-01`",
        "NULL",
        "the dates of Python, in which results are handed over, go from the year 1 to 9999",
    ),
    Difference(
        "`mask(x, c)`, `trunc(d, n)` of a decimal, where c or n is a column",
        "the first takes no notice of c; the second is a decimal without fraction",
        "is refused by name",
        "the type and the meaning depend on a constant",
    ),
    Difference(
        "`CAST('0000-01-01' AS DATE)`, dates before the year 1 and after 9999",
        "dates of the year 0, of negative years and of five digits",
        "NULL",
        "the dates of Python, in which results are handed over, go from the year 1 to 9999",
    ),
    Difference(
        "the text of a FLOAT such as 2147483648",
        "`2.14748365E9`, as Java 17 and earlier write it",
        "`2.1474836E9`, the shortest text of the same number",
        "Java 19 and later write it so, too",
    ),
    Difference(
        "`SELECT … FROM matchpath(ON …)`",
        "finds patterns of rows",
        "is refused by name",
        "Spark has no such function; `noop`, `noopwithmap` and their streaming forms are done",
    ),
    Difference(
        "`SELECT TRANSFORM (…) USING 'command'`, `MAP … USING`, `REDUCE … USING`",
        "sends rows through a program",
        "is refused by name",
        "no program is started on the machine that runs the query",
    ),
    Difference(
        "`date_format(t, 'A')`, also `n N B v p g` and more than six `y`",
        "writes them",
        "is refused by name",
        "Spark does not know these letters",
    ),
    Difference("`map(NULL, 1)`", "a map with the key NULL", "is refused by name", "Spark's maps have no such key"),
    Difference(
        "`ds_hll_sketch`, `ds_theta_sketch`, `ds_kll_sketch` and the other `ds_…` functions",
        "make and read Apache DataSketches",
        "are refused by name",
        "Spark's sketches hash and round in another way, so estimates would differ from Hive's",
    ),
    Difference(
        "`TABLESAMPLE (BUCKET x OUT OF y ON column)`",
        "takes the rows whose hash falls into the bucket",
        "is refused by name, unless y is 1; `ON rand()`, `n ROWS` and `n PERCENT` are done",
        "tables are not bucketed, and the hash depends on how Hive stored the table",
    ),
    Difference(
        "`rand(seed)`",
        "the numbers of `java.util.Random`",
        "other numbers, the same at each run",
        "Spark's generator is another one",
    ),
    Difference(
        "`regexp_extract(text, '(x)?y', 1)` where the group takes no part in the match",
        "NULL",
        "`''`",
        "Spark does not tell the two apart",
    ),
    Difference(
        "`get_json_object(json, '$.a.b')` where `a` is an array, `'$.a[*].b'` with one match or where `b` is an array",
        "the `b` of every element, in one list even if they are lists",
        "NULL; the value itself; a list of lists",
        "Spark reads the path otherwise",
    ),
    Difference(
        "the order of rows without `ORDER BY`, among rows with equal keys, and of `collect_set`; `LIMIT` without an order; `ORDER BY` in a subquery",
        "the order in which it happens to read, group or join",
        "another order",
        "no order is asked for, so there is none; give `ORDER BY` at the end enough columns to tell rows apart",
    ),
    Difference(
        "`percentile_approx(x, p)`",
        "interpolates in a histogram of up to 10000 bars",
        "a value of the column",
        "both are approximations",
    ),
    Difference(
        "`hash()` and `murmur_hash()` of doubles, floats, decimals, timestamps, intervals, arrays and maps where Spark lacks Java's hash code",
        "the hash code of Java's class",
        "is refused by name",
        "Spark SQL has no function that gives the bits of a number",
    ),
    Difference("`sign()` of NaN", "`-1.0`", "NaN", "the sign of what is no number is undefined"),
)
"""Answers that cannot be Hive's because of what Spark, Druid or the catalog can hold."""

DOCUMENTED: tuple[Difference, ...] = (
    Difference(
        "`floor_hour(t)`, `floor_minute(t)`, `floor_second(t)` of a TIMESTAMP WITH LOCAL TIME ZONE",
        "an hour that the clocks repeat is one hour: `floor_second` moves a time of the second one to the first",
        "two hours: what has passed of the hour is taken off the instant",
        "the type is an instant, which no rounding to seconds may move by an hour; Druid's buckets are the same",
    ),
    Difference(
        "`x LIKE ANY ('a', NULL)`, `x LIKE ALL ('a', NULL)`",
        "NULL, whatever x is",
        "TRUE where a pattern fits ANY, FALSE where one does not fit ALL, else NULL",
        "three-valued logic: TRUE OR NULL is TRUE, FALSE AND NULL is FALSE",
    ),
    Difference(
        "`trunc(1e18D, 3)`, `trunc(x, NULL)` of a column x",
        "cut to 64 bits: `-5.308871597521043E15`; the digits of the row before",
        "the number itself; cut to a whole number",
        "what is left of a number after an overflow is no number of digits, and rows do not depend on each other",
    ),
    Difference(
        "`INTERVAL (text) YEAR TO MONTH` of a column with texts that are no intervals",
        "ends the query",
        "NULL, as `interval_year_month(text)`",
        "one text that does not parse is no reason to end a query",
    ),
    Difference(
        "`datediff(s, '2019-09-01')` of a column with texts that are no dates",
        "1, or the number of the row before (vectorized execution)",
        "NULL",
        "the documentation says NULL, and so does Hive without vectorization",
    ),
    Difference(
        "`CAST('12:34:56' AS DATE)`, `to_date`, `year`, `datediff` … of a text that is a time of day alone",
        "the present day; NULL in `date_add`, `date_sub`, `trunc` and `dayofweek`",
        "NULL",
        "a text without a date has none; as a TIMESTAMP it is of the present day in both",
    ),
    Difference(
        "`a JOIN b ON a.x = b.x` of doubles `-0.0` and `0.0`",
        "are not equal in a join, but equal in SELECT and WHERE",
        "are equal",
        "`=` means one thing",
    ),
    Difference(
        "`SELECT d … UNION ALL SELECT i …` of a decimal(10,2) and an int",
        "decimal(10,2): an int of nine digits becomes NULL",
        "decimal(12,2)",
        "the documentation says that both types fit",
    ),
    Difference(
        "`CAST(3000000000BD AS INT)` of a constant",
        "-1294967296 for a constant, NULL for a column",
        "NULL for both",
        "a number that does not fit is NULL; Hive's optimizer cuts constants another way than its execution",
    ),
    Difference(
        "`split(CAST('a,b' AS CHAR(5)), ',')`, `str_to_map` of a CHAR constant",
        "blanks behind the text for a constant, none for a column",
        "no blanks",
        "the same expression has one answer for constants and columns",
    ),
    Difference(
        "`CAST('2019-02-30' AS TIMESTAMP WITH LOCAL TIME ZONE)`, `dayofweek('2019-02-30')`",
        "2019-02-28, and the weekday of March 2",
        "NULL",
        "CAST to DATE and to TIMESTAMP are NULL for a day that is not there",
    ),
    Difference(
        "`p_size NOT IN (SELECT p_type …)`, a number among texts that are no numbers",
        "rows are found, as if no text were NULL as a number",
        "no rows",
        "three-valued logic: the texts compare as NULL, and NOT IN with a NULL in its list is never TRUE",
    ),
)
"""Answers in which Hive 4.0.1 contradicts its own documentation or three-valued logic: here the documented meaning holds."""

_INTRODUCTION = """\
# Differences from Hive

The meaning of a statement is what Hive 4.0.1 answers. This page lists every known exception. It is generated from
`hivedruid/plan/differences.py`; a test compares the two.
"""
_SECTIONS = (
    ("Limits", "What Spark, Druid or the catalog cannot hold or compute as Hive does.", LIMITS),
    (
        "Where Hive contradicts its documentation",
        "Hive 4.0.1 answers against its own documentation or against three-valued logic; hivedruid answers as documented.",
        DOCUMENTED,
    ),
)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _table(rows: tuple[Difference, ...]) -> list[str]:
    lines = ["| construct | Hive | hivedruid | reason |", "|---|---|---|---|"]
    return [*lines, *("| " + " | ".join(_cell(text) for text in row) + " |" for row in rows)]


def page() -> str:
    """The text of docs/hive-differences.md."""
    lines = [_INTRODUCTION]
    for title, text, rows in _SECTIONS:
        lines += [f"## {title}", "", text, "", *(_table(rows) if rows else ["None known."]), ""]
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    import sys

    sys.stdout.write(page())
