"""The statements of hive-testbench (TPC-DS and TPC-H): answers and times of hivedruid, compared with plain PySpark.

`--cases` is a folder with `queries.json` (name → its statements) and `tables.json` (family → table → [column,
type]), `--data` one with `FAMILY/TABLE/*.parquet`. Names that start with `ds` belong to the family `ds`, the others to
`h`. Both sides run all statements `--rounds` times, and the quickest round but the first counts: plain PySpark in this
process, hivedruid as one script on its warm Spark server, with planning and printing. With two rounds, the ratios of
single statements differ by half between runs of the same Spark. The rows are compared as multisets, floats to nine
digits; the LIMIT at the end of a statement is removed, so that ties and the order of nulls do not matter.

Without `--druid` both read the Parquet files (the total at most 1.1 times Spark's, the 90th percentile 1.3). With it
the fact tables are in the embedded store or, if `--home` is that of a local cluster or `--url` that of any, in Druid,
their decimals as doubles, and Spark reads the files with the same values as doubles (the total at most 1.0). With
`--managed` all tables are managed tables. `--plan` only plans the statements, and compares that with sqlglot's parser
alone (median at most 60 ms, worst 500 ms); with `--druid` it also counts the statements for which Druid does more than
scan (at least 80 of TPC-DS). `--write` puts the table into docs/performance.md.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
DATES = {
    "store_sales": "ss_sold_date_sk", "store_returns": "sr_returned_date_sk", "catalog_sales": "cs_sold_date_sk",
    "catalog_returns": "cr_returned_date_sk", "web_sales": "ws_sold_date_sk", "web_returns": "wr_returned_date_sk",
    "inventory": "inv_date_sk", "lineitem": "l_shipdate", "orders": "o_orderdate",
}  # fmt: skip
"""The fact tables, and their columns that determine the time: keys of date_dim, or dates as text."""
MARKER = "marker__"
UNKNOWN_DATE = "TIMESTAMP '1990-01-01 00:00:00'"


@dataclass
class Outcome:
    """The rows of a statement and the seconds that it took; or its error."""

    rows: list[list[Any]] = field(default_factory=list)
    seconds: float = 0.0
    error: str = ""


@dataclass(frozen=True)
class Bench:
    queries: dict[str, list[str]]
    tables: dict[str, dict[str, list[list[str]]]]
    data: Path
    druid: bool
    managed: bool = False

    def is_copied(self, table: str) -> bool:
        """Whether hivedruid reads a table of its own with the rows of the files."""
        return self.managed or (self.druid and table in DATES)

    def statements(self) -> Iterator[tuple[str, str, str]]:
        """The family, name and text of each statement."""
        for name in sorted(self.queries, key=lambda n: (family(n) != "ds", int(re.sub(r"\D", "", n)))):
            texts = self.queries[name]
            for place, text in enumerate(texts):
                part = name if len(texts) == 1 else name + "abcdefgh"[place]
                yield family(name), part, _without_limit(text.rstrip().rstrip(";"))


def family(name: str) -> str:
    return "ds" if name.startswith("ds") else "h"


def is_query(text: str) -> bool:
    return re.match(r"(?is)\s*(select|with|from)\b", text) is not None


def _without_limit(text: str) -> str:
    return re.sub(r"(?is)\s+limit\s+\d+\s*$", "", text)


def keep(outcomes: dict[str, Outcome], part: str, now: Outcome, number: int) -> None:
    """Keep the rows of the last round, and the least time of all rounds but the first."""
    if number > 1:
        now.seconds = min(now.seconds, outcomes[part].seconds)
    outcomes[part] = now


# --- hivedruid ------------------------------------------------------------------------------------------------------


def setup(bench: Bench) -> Iterator[str]:
    for name, members in bench.tables.items():
        yield f"CREATE DATABASE IF NOT EXISTS {name}; USE {name};"
        for table, columns in members.items():
            files = f"{table}_files" if bench.is_copied(table) else table
            declared = ", ".join(f"`{column}` {type_}" for column, type_ in columns)
            location = bench.data / name / table
            yield f"CREATE EXTERNAL TABLE IF NOT EXISTS {files} ({declared}) STORED AS PARQUET LOCATION '{location}';"
        for table, columns in members.items():
            if bench.druid and table in DATES:
                yield _druid_table(table, columns, DATES[table], name)
            elif bench.managed:
                yield f"CREATE TABLE IF NOT EXISTS {table} AS SELECT * FROM {table}_files;"


def _druid_table(table: str, columns: list[list[str]], date: str, name: str) -> str:
    doubles = ",".join(f"{column}:double" for column, type_ in columns if type_.startswith("decimal"))
    properties = {"druid.segment.granularity": "YEAR", "druid.query.granularity": "NONE", "druid.rollup": "false"}
    properties |= {"druid.columns.as": doubles} if doubles else {}
    moment, join = f"CAST(f.{date} AS TIMESTAMP)", ""
    if name == "ds":
        properties["hivedruid.time.references"] = f"{date}: date_dim(d_date_sk, d_date)"
        moment = f"coalesce(CAST(d.d_date AS TIMESTAMP), {UNKNOWN_DATE})"
        join = f" LEFT JOIN date_dim d ON f.{date} = d.d_date_sk"
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
    taken = ", ".join(f"f.{column}" for column, _ in columns)
    return (
        f"CREATE EXTERNAL TABLE IF NOT EXISTS {table} STORED BY 'druid' TBLPROPERTIES ({listed})"
        f" AS SELECT {moment} AS `__time`, {taken} FROM {table}_files f{join};"
    )


def script(bench: Bench, rounds: int, prefix: str = "") -> Iterator[str]:
    yield from setup(bench)
    for number in range(rounds):
        for name, part, text in bench.statements():
            yield f"USE {name};\nSELECT '{number}/{part}' AS {MARKER};"
            yield f"{prefix if is_query(text) else ''}{text};"
    yield f"SELECT 'end' AS {MARKER};"


def of_hivedruid(lines: Iterator[str], home: Path, settings: list[str]) -> dict[str, Outcome]:
    """The outcomes of a script."""
    path = home.with_suffix(".q")
    path.write_text("\n".join(lines), encoding="utf-8")
    command = [sys.executable, "-m", "hivedruid", "sql", "--home", str(home), "-f", str(path), "--format", "jsonl"]
    errors = home.with_suffix(".err")
    outcomes: dict[str, Outcome] = {}
    with errors.open("w") as stderr:
        run = subprocess.Popen([*command, "--fail-at-end", *settings], stdout=subprocess.PIPE, stderr=stderr, text=True)
        name, now, begun = "", Outcome(), 0.0
        for line in run.stdout or ():
            row = json.loads(line)
            if list(row) != [MARKER]:
                now.rows.append(list(row.values()))
                continue
            now.seconds = time.perf_counter() - begun
            if name:
                number, _, part = name.partition("/")
                keep(outcomes, part, now, int(number))
            name, now, begun = str(row[MARKER]), Outcome(), time.perf_counter()
        run.wait()
    sys.stderr.write(errors.read_text(encoding="utf-8"))
    return outcomes


# --- plain PySpark ----------------------------------------------------------------------------------------------------


def of_spark(bench: Bench, rounds: int) -> dict[str, Outcome]:
    spark = _session()
    outcomes: dict[str, Outcome] = {}
    for number in range(rounds):
        current = ""
        for name, part, text in bench.statements():
            if name != current:
                _register(spark, bench, name)
                current = name
            keep(outcomes, part, _run(spark, _for_spark(text)), number)
    spark.stop()
    return outcomes


def _session() -> SparkSession:
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.memory": "2g", "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
        "spark.sql.ansi.enabled": "false", "spark.log.level": "FATAL", "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "8", "spark.sql.legacy.charVarcharAsString": "true",
        "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
    }  # fmt: skip
    return SparkSession.builder.master("local[*]").config(map=settings).getOrCreate()


def _register(spark: SparkSession, bench: Bench, name: str) -> None:
    for table in bench.tables[name]:
        frame = spark.read.parquet(f"{bench.data}/{name}/{table}")
        if bench.druid and table in DATES:
            frame = frame.selectExpr(
                *(f"CAST({c} AS DOUBLE) AS {c}" if t.startswith("decimal") else c for c, t in frame.dtypes)
            )
        frame.createOrReplaceTempView(table)


_CREATE = re.compile(r"(?is)^\s*create (?:view|temporary table)(?: if not exists)?(.*?)(?:\s+stored as orc)?\s+as\b")


def _for_spark(text: str) -> str:
    """The statement in Spark's dialect: views and tables of a script as temporary views, intervals with their word."""
    text = _CREATE.sub(r"CREATE OR REPLACE TEMP VIEW\1 AS", text, count=1)
    text = re.sub(r"(?i)^\s*drop (?:view|table)(?: if exists)?", "DROP VIEW IF EXISTS", text)
    text = re.sub(r"([+-])\s*(\d+) days", r"\1 INTERVAL \2 days", text)
    return re.sub(r"(?i)interval\s*\((\d+)\)", r"INTERVAL \1", text)


def _run(spark: SparkSession, text: str) -> Outcome:
    begun = time.perf_counter()
    try:
        frame = spark.sql(text)
        rows = [list(row) for row in frame.collect()] if is_query(text) else []
    except Exception as error:  # noqa: BLE001 any error of Spark is an outcome
        return Outcome(error=str(error).partition("\n")[0])
    return Outcome(rows, time.perf_counter() - begun)


# --- comparison -------------------------------------------------------------------------------------------------------


def are_same(ours: list[list[Any]], theirs: list[list[Any]]) -> bool:
    """Whether both are the same multiset of rows; floats to nine digits."""
    if len(ours) != len(theirs):
        return False
    pairs = zip(_ordered(ours), _ordered(theirs), strict=True)
    return all(len(a) == len(b) and all(map(_equal, a, b)) for a, b in pairs)


def _ordered(rows: list[list[Any]]) -> list[list[str | float]]:
    """The rows in an order that the last digits of floats do not change."""
    values = [[_value(value) for value in row] for row in rows]
    return sorted(values, key=lambda row: [f"{v:.6g}" if isinstance(v, float) else v for v in row])


def _value(value: Any) -> str | float:
    text = str(value).rstrip()
    if value is None or isinstance(value, bool):
        return text
    try:
        return float(text) + 0.0
    except ValueError:
        return text


def _equal(a: str | float, b: str | float) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9) or (math.isnan(a) and math.isnan(b))
    return a == b


def _state(text: str, ours: list[list[Any]], theirs: list[list[Any]]) -> str:
    if are_same(ours, theirs):
        return SAME
    # Over no rows Hive returns the grand total of GROUP BY ... ROLLUP, and Spark returns nothing (Hive 4.0.1).
    is_total = not theirs and len(ours) == 1 and re.search(r"(?i)\b(rollup|cube|grouping sets)\b", text)
    return AS_HIVE if is_total else "different"


SAME, AS_HIVE = "same", "as Hive"


@dataclass(frozen=True)
class Comparison:
    part: str
    state: str
    rows: int
    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        return self.ours / max(self.theirs, 1e-3)


def compared(bench: Bench, ours: dict[str, Outcome], theirs: dict[str, Outcome]) -> list[Comparison]:
    found = []
    for _, part, text in bench.statements():
        if is_query(text):
            a, b = ours.get(part, Outcome(error="not run")), theirs[part]
            state = "Spark fails" if b.error else _state(text, a.rows, b.rows)
            found.append(Comparison(part, state, len(b.rows), a.seconds, b.seconds))
    return found


def summary(found: list[Comparison]) -> str:
    same = [c for c in found if c.state in (SAME, AS_HIVE)]
    ratios = sorted(c.ratio for c in same)
    total = sum(c.ours for c in same) / sum(c.theirs for c in same)
    states = ", ".join(f"{sum(c.state == s for c in found)} {s}" for s in sorted({c.state for c in found}))
    return (
        f"{len(found)} statements: {states}. Time of hivedruid by that of Spark: total {total:.2f},"
        f" median {statistics.median(ratios):.2f}, 90th percentile {ratios[len(ratios) * 9 // 10]:.2f},"
        f" worst {ratios[-1]:.2f}."
    )


def page(found: list[Comparison], title: str) -> str:
    lines = [f"## {title}", "", summary(found), "", "| statement | rows | Spark, s | hivedruid, s | ratio | answers |"]
    lines.append("|---|---|---|---|---|---|")
    for c in found:
        times = f"{c.theirs:.2f} | {c.ours:.2f} | {c.ratio:.2f}" if c.state in (SAME, AS_HIVE) else f"| {c.ours:.2f} |"
        lines.append(f"| {c.part} | {c.rows:,} | {times} | {c.state} |")
    return "\n".join(lines) + "\n"


def write(title: str, text: str) -> None:
    """Replace the section of this title in the page, or add it."""
    sections = re.split(r"(?m)^(?=## )", PAGE.read_text(encoding="utf-8"))
    number = next((n for n, s in enumerate(sections) if s.startswith(f"## {title}\n")), len(sections))
    sections[number : number + 1] = [text]
    PAGE.write_text("\n\n".join(section.rstrip() for section in sections) + "\n", encoding="utf-8")


# --- planning ---------------------------------------------------------------------------------------------------------


def plan(bench: Bench, home: Path, settings: list[str]) -> str:
    import sqlglot

    of_hivedruid(script(bench, 1), home, settings)  # creates the tables and views
    ours = of_hivedruid(script(bench, 2, prefix="EXPLAIN "), home, settings)
    texts = {part: text for _, part, text in bench.statements() if is_query(text)}
    parsing = {}
    for part, text in texts.items():
        begun = time.perf_counter()
        sqlglot.parse_one(text, dialect="hive")
        parsing[part] = time.perf_counter() - begun
    times = sorted(ours[part].seconds for part in texts)
    worst = max(texts, key=lambda part: ours[part].seconds)
    ratio = statistics.median(ours[part].seconds / parsing[part] for part in texts)
    more = [part for part in texts if family(part) == "ds" and does_more_than_scan(ours[part])]
    pushed = f"; Druid does more than scan for {len(more)} of TPC-DS (at least 80)" if bench.druid else ""
    return (
        f"EXPLAIN of {len(texts)} statements: median {statistics.median(times) * 1000:.0f} ms (at most 60), worst"
        f" {times[-1] * 1000:.0f} ms of {worst} (at most 500); median {ratio:.1f} x sqlglot.parse_one of the same text"
        f"{pushed}"
    )


def does_more_than_scan(explained: Outcome) -> bool:
    """Whether a native query of the plan has a filter other than not-null, or groups, joins or limits rows, or gets
    the keys of a semi-join reduction."""
    lines = [str(row[0]) for row in explained.rows]
    if any("only rows" in line and "keys of" in line for line in lines):
        return True
    queries = re.finditer(r"druid\.query\.json: (?=\{)", "\n".join(lines))
    return any(_is_more(json.JSONDecoder().raw_decode(found.string, found.end())[0]) for found in queries)


def _is_more(query: dict[str, Any]) -> bool:
    given = query.get("filter")
    fields = given["fields"] if given and given["type"] == "and" else [given] if given else []
    not_null = [f["type"] == "not" and f["field"]["type"] == "null" for f in fields]
    is_scan = query["queryType"] == "scan" and isinstance(query["dataSource"], str) and "limit" not in query
    return not is_scan or not all(not_null)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--druid", action="store_true", help="the fact tables are Druid tables")
    parser.add_argument("--managed", action="store_true", help="the other tables are managed tables")
    parser.add_argument("--home", type=Path, help="a home that keeps its tables, such as that of a local cluster")
    parser.add_argument("--url", default="", help="druid.url, such as that of a local cluster")
    parser.add_argument("--only", default="", help="names of statements, separated by commas")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--plan", action="store_true", help="only plan the statements")
    parser.add_argument("--write", default="", metavar="TITLE", help="the section of docs/performance.md to write")
    options = parser.parse_args()
    if options.cases is None or options.data is None:
        print("testbench.py needs --cases and --data")
        return
    queries = json.loads((options.cases / "queries.json").read_text(encoding="utf-8"))
    only = set(filter(None, options.only.split(",")))
    bench = Bench(
        {name: texts for name, texts in queries.items() if not only or name in only},
        json.loads((options.cases / "tables.json").read_text(encoding="utf-8")),
        options.data.absolute(),
        options.druid,
        options.managed,
    )
    settings = ["--druid", options.url] if options.url else []
    with tempfile.TemporaryDirectory() as folder:
        home = (options.home or Path(folder, "home")).absolute()
        if options.plan:
            print(plan(bench, home, settings))
            return
        ours = of_hivedruid(script(bench, options.rounds), home, settings)
        found = compared(bench, ours, of_spark(bench, options.rounds))
    for c in found:
        print(f"{c.part:6} {c.state:11} {c.rows:8,} {c.theirs:7.2f} {c.ours:7.2f} {c.ratio:6.2f}")
    print(summary(found))
    if options.write:
        write(options.write, page(found, options.write))


if __name__ == "__main__":
    main()
