"""Where the results of hivedruid and Hive 4.0.1 differ, and why. docs/hive-differences.md is generated from this table.

`python -m hivedruid.plan.differences` prints the page.
"""

from __future__ import annotations

from typing import NamedTuple


class Difference(NamedTuple):
    """One construct, with the result of Hive (`hive`) and of hivedruid (`ours`)."""

    construct: str
    hive: str
    ours: str
    reason: str


LIMITS: tuple[Difference, ...] = (
    Difference(
        "`ORDER BY`, `min`, `max`, `<` of strings that mix characters from U+E000 to U+FFFF with characters above"
        " U+FFFF",
        "compares code points",
        "Druid compares UTF-16 code units: `'😀'` before `'ｚ'`; a comparison with a constant of such characters runs"
        " on Spark",
        "Druid's dictionaries, sorting and comparisons use Java strings",
    ),
    Difference(
        "`TIMESTAMP '2020-01-01 00:00:00.123456789'`",
        "keeps nine fractional digits",
        "keeps six fractional digits: `….123456`",
        "Spark's timestamps have microsecond precision, Druid's millisecond precision",
    ),
    Difference(
        "a TIMESTAMP from `1969-12-31 23:59:59.001` to `1969-12-31 23:59:59.999999` in ORC files",
        "is stored, and read as a second later",
        "INSERT, UPDATE and MERGE are an error",
        "Hive's ORC library rounds negative seconds; Spark and Iceberg use the same one",
    ),
    Difference(
        "`INTERVAL '1.123456789' SECOND`",
        "keeps nine fractional digits",
        "keeps six fractional digits and prints three zeros after them",
        "Spark's intervals have microsecond precision",
    ),
    Difference(
        "`interval_day_time('106751991 00:00:00')`, `interval_year_month('178956970-0')` and longer intervals",
        "intervals of up to 2147483647 days; more years than 178956970 become negative",
        "NULL",
        "Spark's intervals are 64 bits of microseconds and 32 bits of months",
    ),
    Difference(
        "`mask(date)`, whose default year is 0",
        "`0000-01-01`",
        "NULL",
        "results use Python dates, which are limited to the years 1 to 9999",
    ),
    Difference(
        "`mask(x, c)`, `trunc(d, n)` of a decimal, where c or n is a column",
        "the first ignores c; the second returns a decimal without fraction",
        "is not supported",
        "the result type depends on the value",
    ),
    Difference(
        "`CAST('0000-01-01' AS DATE)`, dates before the year 1 and after 9999",
        "dates of the year 0, of negative years and of five digits",
        "NULL",
        "results use Python dates, which are limited to the years 1 to 9999",
    ),
    Difference(
        "the string form of a FLOAT such as 2147483648",
        "`2.14748365E9`, as printed by Java 17 and earlier",
        "`2.1474836E9`, the shortest form of the same number",
        "Java 19 and later print it in this form",
    ),
    Difference(
        "`SELECT … FROM matchpath(ON …)`",
        "matches patterns across rows",
        "is not supported",
        "Spark has no such function; `noop`, `noopwithmap` and their streaming forms are supported",
    ),
    Difference(
        "`SELECT TRANSFORM (…) USING 'command'`, `MAP … USING`, `REDUCE … USING`",
        "pipes rows through a program",
        "does so with `hivedruid.transform.enabled`; a SerDe, RECORDREADER and RECORDWRITER are not supported",
        "a query could otherwise run any command on the machines that run it",
    ),
    Difference(
        "a function in Java of a DECIMAL, CHAR or VARCHAR",
        "is passed that type, and may return it",
        "is passed DECIMAL(38,18) or STRING; a DECIMAL with more digits than that is not supported",
        "Spark does not pass these types to classes",
    ),
    Difference(
        "`date_format(t, 'A')`, also `n N B v p g` and more than six `y`",
        "formats them",
        "is not supported",
        "Spark does not support these letters",
    ),
    Difference(
        "`CAST(s AS DATE FORMAT 'YYYY-MM-DD')`, also AS TIMESTAMP, of a string that does not match: for all of them in"
        " vectorized execution, otherwise for strings that end before text in quotes,"
        " T, Z, TZH or the second letter of AM",
        "the query fails",
        "NULL, which Hive returns for other strings and without vectorized execution",
        "one row does not fail a query",
    ),
    Difference(
        "`CAST(t AS STRING FORMAT 'Month DD')` of a non-deterministic time, such as one with `rand()`, if more than one"
        " function writes the parts of the pattern",
        "formats it",
        "is not supported; a column of a subquery is",
        "each function would have a time of its own",
    ),
    Difference(
        "`SELECT 1 UNION ALL SELECT 'x'`, and other numbers with strings",
        "is an error",
        "returns strings",
        "a branch of CASE has the same common type",
    ),
    Difference("`map(NULL, 1)`", "a map with the key NULL", "is not supported", "Spark does not allow NULL map keys"),
    Difference(
        "`ds_kll_…`, `ds_cpc_…`, `ds_freq_…`, `ds_tuple_…`, `ds_quantile_strings_…` and `…_stringify`; a seed, a"
        " sampling probability or a type of HLL sketches as an argument; BINARY and CHAR values of `ds_hll_sketch` and"
        " `ds_theta_sketch`",
        "create and read other sketches of Apache DataSketches; hash bytes, and CHAR with its trailing blanks",
        "are not supported; the [other functions](sketches.md#functions) are",
        "the library in Python does not have them, or its results were not compared",
    ),
    Difference(
        "the estimate of `ds_hll_sketch(x)` of more than about 200 values",
        "depends on the order of the rows, unless several tasks have read them",
        "does not depend on the order; a union has Hive's estimate",
        "Spark and Druid read rows in any order",
    ),
    Difference(
        "`ds_quantile_doubles_quantiles(s, 0.5)` of a sketch without values, a NULL fraction",
        "fail",
        "NULL",
        "one row does not fail a query",
    ),
    Difference(
        "`TABLESAMPLE (BUCKET x OUT OF y ON column)`",
        "selects the rows whose hash falls into the bucket",
        "is not supported unless y is 1; `ON rand()`, `n ROWS` and `n PERCENT` are supported",
        "tables are not bucketed, and the hash depends on how Hive stored the table",
    ),
    Difference(
        "`rand()` in the condition of `UPDATE`, `DELETE` and `MERGE`; these statements on tables in Druid, except"
        " UPDATE and DELETE of archived rows of tiered tables",
        "evaluates them; changes rows of transactional tables",
        "is not supported",
        "Iceberg computes a condition several times; Druid cannot change single rows",
    ),
    Difference(
        "`UPDATE t SET a = (SELECT max(x) FROM u WHERE u.b < t.b)`, an aggregate function of rows that are compared"
        " with columns of the table by `<`, `<=`, `>`, `>=` or `<>`; also in WHERE, and in `DELETE`",
        "computes it",
        "is not supported",
        "Spark would read the table twice",
    ),
    Difference(
        "`MERGE` with `hive.merge.cardinality.check=false`, if a row matches several rows of the source",
        "writes an updated row for each of them",
        "an error, as with `true`",
        "one row of a table must not become several",
    ),
    Difference(
        "`rand(seed)`",
        "the numbers of `java.util.Random`",
        "different numbers, the same in each run",
        "Spark uses a different generator",
    ),
    Difference(
        "`regexp_extract(text, '(x)?y', 1)` where the group does not participate in the match",
        "NULL",
        "`''`",
        "Spark does not distinguish the two",
    ),
    Difference(
        "`get_json_object(json, '$.a.b')` where `a` is an array, `'$.a[*]'` and `'$.a[*].b'` with one match or"
        " where `b` is an array",
        "the `b` of every element, flattened into one list",
        "NULL; the value itself; a list of lists",
        "Spark interprets the path differently",
    ),
    Difference(
        "`ALTER TABLE … CHANGE COLUMN` with a new name for a column of a Druid table, or of an external table of ORC"
        " files",
        "renames it",
        "is not supported",
        "segments contain the name; hivedruid reads ORC files by names, Hive by positions",
    ),
    Difference(
        "unsigned integers of Parquet files above 2147483647 (UINT_32) or 9223372036854775807 (UINT_64); an INT of"
        " Parquet files that is declared DOUBLE; an INT96 that is declared BIGINT; the smallest BIGINT of an ORC file"
        " that is declared TIMESTAMP",
        "NULL, and -1 as a string in vectorized jobs; rounded to a FLOAT, except in vectorized jobs; the nanoseconds"
        " of the day; 1970-01-01 00:00:00",
        "the number, if the declared type has it; the number; seconds since 1970; NULL",
        "the value is the one that was written",
    ),
    Difference(
        "a CHAR of an ORC file that is declared BINARY",
        "has the blanks at its end",
        "has none",
        "Spark's reader removes them",
    ),
    Difference(
        "a DATE before 1582-10-15 in Parquet files without notes of Hive, such as those of pyarrow and DuckDB",
        "is a day of the Julian calendar: 1500-03-01 becomes 1500-02-20",
        "is the day that was written",
        "Parquet defines days of the Gregorian calendar; Hive's own files say what they have",
    ),
    Difference(
        "`ROW FORMAT`, `STORED AS`, `CLUSTERED BY`, `SKEWED BY` of a managed table",
        "the format and the division of its files",
        "the format of files that `LOAD DATA` reads; `CLUSTERED BY` and `SKEWED BY` have no effect",
        "managed tables are Iceberg tables with ORC files",
    ),
    Difference(
        "`BLOCK__OFFSET__INSIDE__FILE` of rows that are not in text or JSON files; with `skip.footer.line.count`",
        "the position of the reader, which several rows share; the offset of a later line",
        "is not supported; the offset of the line",
        "the position of a reader says nothing about a row",
    ),
    Difference(
        "`INPUT__FILE__NAME` of tables in Druid and Kafka, and in conditions of `UPDATE` and `DELETE`",
        "internal values; the file of the row",
        "is not supported",
        "rows of Druid and Kafka are not in files; Iceberg evaluates conditions without these columns",
    ),
    Difference(
        "`ALTER TABLE … EXCHANGE PARTITION` of managed tables; of external tables with different formats; of a"
        " partition with a LOCATION of its own",
        "moves the folder, unless the table is transactional; the partition keeps its format; fails",
        "is refused; is refused; the partition keeps its LOCATION",
        "Iceberg has no commit that changes two tables; all partitions of a table have its format",
    ),
    Difference(
        "`hive.exec.max.dynamic.partitions` that is not SET; `hive.exec.max.dynamic.partitions.pernode`,"
        " `hive.exec.default.partition.name`",
        "1000; limit the partitions of a task, and name that of NULL",
        "no limit; have no effect, with a note",
        "every INSERT runs; Spark's tasks have no such limit, and Spark recognizes one name",
    ),
    Difference(
        "`CREATE TEMPORARY VIEW`",
        "a syntax error",
        "makes a view of the session",
        "temporary tables have views, too",
    ),
    Difference(
        "`LOAD DATA INPATH` without `LOCAL` into a managed table",
        "moves the files",
        "inserts their rows, and leaves the files where they are",
        "managed tables are Iceberg tables with ORC files",
    ),
    Difference(
        "`LOAD DATA` of files that are not Parquet into a Parquet table; with `OVERWRITE` of the table's own files",
        "loads them, and cannot read them afterwards; deletes them",
        "is refused",
        "no data may be lost",
    ),
    Difference(
        "the order of rows without `ORDER BY`, among rows with equal keys, and of `collect_set`; `LIMIT` without `ORDER"
        " BY`; `ORDER BY` in a subquery",
        "the order in which it reads, groups or joins",
        "a different order",
        "SQL defines no order here; use a final `ORDER BY` with enough columns to make the order unique",
    ),
    Difference(
        "`percentile_approx(x, p)`",
        "interpolates in a histogram of up to 10000 bins",
        "a value of the column",
        "both are approximations",
    ),
    Difference(
        "`hash()` and `murmur_hash()` of doubles, floats, decimals, timestamps, intervals, arrays and maps where Spark"
        " cannot compute Java's hash code",
        "the hash code of Java's class",
        "is not supported",
        "Spark SQL has no function that returns the bits of a number",
    ),
    Difference("`sign()` of NaN", "`-1.0`", "NaN", "the sign of NaN is undefined"),
    Difference(
        "INSERT of strings with line breaks into text with `ESCAPED BY`; with backslashes into OpenCSVSerde",
        "writes the line break itself, unless `serialization.escape.crlf` is true, and reads two rows; loses the"
        " backslash when it reads the file",
        "writes `\\n` and `\\r` after the escape character; doubles the backslash",
        "what was inserted must be what is read; Hive reads these files correctly",
    ),
    Difference(
        "INSERT of a TIMESTAMP WITH LOCAL TIME ZONE into text; into JSON",
        "writes the time in the session's zone, so that the second of two equal hours becomes the first one; fails",
        "the same, but the second hour is in UTC; JSON is in UTC: `2024-01-02 03:04:05.000000Z`",
        "what was inserted must be what is read",
    ),
    Difference(
        'JSON values (JsonSerDe) of another type than their column: `"x"`, `1.7`, `true` or a number out of range for'
        " an integer, `1` for a BOOLEAN, text that is not a time",
        "0, the number without its fraction, 1, the remainder, a BOOLEAN, NULL",
        "the row or record is malformed (`hivedruid.malformed.rows`)",
        "the value is not the one that was written",
    ),
    Difference(
        "TIMESTAMP in JSON as `2024-01-02T03:04:05Z`, `2024-01-02` or `2024-01-02 03:04`; an array, map or struct in"
        " JSON that is a string with its JSON text",
        "NULL without `timestamp.formats`; an error",
        "that time, in UTC; that array, map or struct",
        "they have only one meaning",
    ),
)
"""Results that differ because of limits of Spark, Druid or the catalog."""

DOCUMENTED: tuple[Difference, ...] = (
    Difference(
        "`floor_hour(t)`, `floor_minute(t)`, `floor_second(t)` of a TIMESTAMP WITH LOCAL TIME ZONE",
        "a repeated hour (end of daylight saving time) counts as one: `floor_second` moves a time in the second hour to"
        " the first",
        "the two hours are distinct: the elapsed part of the hour is subtracted from the instant",
        "the type is an instant, which rounding to seconds must not move by an hour; Druid's buckets agree",
    ),
    Difference(
        "`x LIKE ANY ('a', NULL)`, `x LIKE ALL ('a', NULL)`",
        "NULL for every x",
        "TRUE if a pattern matches (ANY), FALSE if one does not match (ALL), otherwise NULL",
        "three-valued logic: TRUE OR NULL is TRUE, FALSE AND NULL is FALSE",
    ),
    Difference(
        "`trunc(1e18D, 3)`, `trunc(x, NULL)` of a column x",
        "truncated to 64 bits: `-5.308871597521043E15`; the number of digits of the previous row",
        "the number itself; truncated to an integer",
        "an overflow is not a rounding, and the result of a row must not depend on another row",
    ),
    Difference(
        "`INTERVAL (text) YEAR TO MONTH` of a column with strings that are not valid intervals",
        "fails the query",
        "NULL, as `interval_year_month(text)`",
        "one invalid string must not fail the query",
    ),
    Difference(
        "`datediff(s, '2019-09-01')` of a column with strings that are not valid dates",
        "1, or the result of the previous row (vectorized execution)",
        "NULL",
        "the documentation says NULL, and so does Hive without vectorization",
    ),
    Difference(
        "`CAST('12:34:56' AS DATE)`, `to_date`, `year`, `datediff` … of a string that contains only a time of day",
        "the current date; NULL in `date_add`, `date_sub`, `trunc` and `dayofweek`",
        "NULL",
        "the string contains no date; cast to TIMESTAMP, both use the current date",
    ),
    Difference(
        "`a JOIN b ON a.x = b.x` of doubles `-0.0` and `0.0`",
        "are not equal in a join, but equal in SELECT and WHERE",
        "are equal",
        "`=` has one meaning",
    ),
    Difference(
        "`SELECT d … UNION ALL SELECT i …` of a decimal(10,2) and an int",
        "decimal(10,2): an int with nine digits becomes NULL",
        "decimal(12,2)",
        "the documentation says that the result type holds both types",
    ),
    Difference(
        "`CAST(3000000000BD AS INT)` of a constant",
        "-1294967296 for a constant, NULL for a column",
        "NULL for both",
        "a number out of range is NULL; Hive's optimizer folds constants differently from its execution",
    ),
    Difference(
        "`CAST(1e10 AS INT)`, also to TINYINT and SMALLINT, of a FLOAT or DOUBLE beyond the range of INT",
        "1410065408 in a vectorized job, 2147483647 in others and for a constant (-7168 and -1 as SMALLINT)",
        "1410065408 (-7168), always",
        "the lowest bits of the BIGINT, as casts from BIGINT to INT have them in all jobs",
    ),
    Difference(
        "`trunc(d, 'MM')` of a DATE column in a vectorized query",
        "1970-01-01, except without vectorization (`hive.vectorized.execution.enabled`)",
        "the first day of the month",
        "the documentation says so, and so does Hive without vectorization",
    ),
    Difference(
        "the type of `CASE … THEN d ELSE 0 END`, `if(b, d, 0)`, `coalesce(d, 0)` of a decimal(10,2) and an integer",
        "decimal(10,2) as a column of the result or of a new table, decimal(12,2) within an expression",
        "decimal(12,2)",
        "an expression has one type; the values are the same",
    ),
    Difference(
        "`SELECT CAST(a AS INT), a`, and the names of casts over subqueries inside of others",
        "names the cast after its column, so that two columns have one name",
        "`_c0` if another column has the name",
        "a new table cannot have two columns of one name",
    ),
    Difference(
        "`split(CAST('a,b' AS CHAR(5)), ',')`, `str_to_map` of a CHAR constant",
        "trailing blanks for a constant, none for a column",
        "no trailing blanks",
        "an expression has the same result for constants and columns",
    ),
    Difference(
        "`CAST('2019-02-30' AS TIMESTAMP WITH LOCAL TIME ZONE)`, `dayofweek('2019-02-30')`",
        "2019-02-28, and the weekday of March 2",
        "NULL",
        "CAST to DATE and to TIMESTAMP are NULL for a date that does not exist",
    ),
    Difference(
        "`unix_timestamp('2024-02-30 AD', 'yyyy-MM-dd G')`, `unix_timestamp(s, p)` with a pattern that is not constant,"
        " or that has eras (`G`), days of the year (`D`), one field twice, or numbers whose ends depend on each other"
        " (`yyyy-M-dHH`)",
        "2024-02-29: a day up to 31 that the month does not have is its last day, and 24:00:00 is the next midnight",
        "NULL, as Spark parses it; with other patterns, such as `yyyy-MM-dd HH:mm:ss`, as in Hive",
        "Spark's parser is strict, and Druid's and hivedruid's own parsers do not have these letters",
    ),
    Difference(
        "`unix_timestamp('+12024-01-31', 'yyyy-MM-dd')`, and other years before 1 or after 9999, in strings",
        "the seconds of that year",
        "NULL",
        "times end with the year 9999",
    ),
    Difference(
        "`CAST(' 12 ' AS INT)`, also to TINYINT, SMALLINT and BIGINT, in a vectorized job;"
        " `CAST(' . ' AS INT)` otherwise",
        "NULL, but 12 for a constant, without a job and without vectorization; 0",
        "12; NULL, as `CAST('.' AS INT)` is in Hive, too",
        "a string has one value; tabs and line breaks around a number are ignored in the same way",
    ),
    Difference(
        "`TRUNCATE TABLE … PARTITION` of a temporary table; `INSERT OVERWRITE` of one of its partitions by rows of the"
        " same partition",
        "deletes the rows of all partitions; deletes those of the partition",
        "deletes the rows of the partition; replaces them",
        "PARTITION names what is emptied, and a statement reads the rows that were there when it began",
    ),
    Difference(
        "`SELECT … QUALIFY … ORDER BY … LIMIT n`",
        "ignores the condition of QUALIFY",
        "the first of the rows that satisfy it",
        "the documentation says that QUALIFY filters rows before ORDER BY; without LIMIT Hive does so",
    ),
    Difference(
        "`p_size NOT IN (SELECT p_type …)`, a number compared with strings that are not numbers",
        "returns rows, as if no string were NULL as a number",
        "no rows",
        "three-valued logic: the strings compare as NULL, and NOT IN with a NULL in its list is never TRUE",
    ),
)
"""Results where Hive 4.0.1 contradicts its own documentation or three-valued logic: hivedruid follows the
documentation."""

_INTRODUCTION = """\
# Differences from Hive

Statements return what Hive 4.0.1 returns. This page lists every known exception. It is generated from
`hivedruid/plan/differences.py`; a test compares the two.
"""
_SECTIONS = (
    (
        "Limits",
        "Values and computations that Spark, Druid or the catalog do not support in the way that Hive does.",
        LIMITS,
    ),
    (
        "Where Hive contradicts its documentation",
        "Hive 4.0.1 contradicts its own documentation or three-valued logic; hivedruid follows the documentation.",
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
