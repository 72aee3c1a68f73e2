"""Random conditions on tables whose files are skipped by bounds: what is returned is compared with the conditions
evaluated over all rows. The values are those for which bounds and comparisons have another order.

`python -m tests.support.pruned_tables SEED N` runs N rounds of other tables.
"""

from __future__ import annotations

import math
import random
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
from pyarrow import orc, parquet

from hivedruid.qtest.sharing import sharing_spark
from hivedruid.session import Session

FIRST_INT, FIRST_BIGINT = -(1 << 31), -(1 << 63)
DOUBLES = (0.0, -0.0, math.nan, None, 0.5, -0.5, 1.0, 5.0, -1.0, math.inf, -math.inf, 1e-60)
FLOATS = (0.0, -0.0, math.nan, None, 0.5, -0.5, 1.0, 5.0, math.inf)
INTS = (
    *(FIRST_INT + n for n in (0, 1, 3, 7, 8, 20)),
    -10,
    -5,
    0,
    5,
    10,
    None,
    *((1 << 31) - 1 - n for n in (0, 6, 17)),
)
BIGINTS = (*(FIRST_BIGINT + n for n in (0, 3, 807, 808, 5000)), -7, 0, 7, None, (1 << 63) - 1, (1 << 63) - 808)
COLUMNS = {"x": ("DOUBLE", DOUBLES), "f": ("FLOAT", FLOATS), "i": ("INT", INTS), "b": ("BIGINT", BIGINTS)}
SPECS = {
    "managed": "PARTITIONED BY SPEC (g)",  # a file for each group of rows
    "by_double": "PARTITIONED BY SPEC (x)",
    "by_float": "PARTITIONED BY SPEC (f)",
    "truncated": "PARTITIONED BY SPEC (truncate(10, i), truncate(1000, b))",
}
FILES = {"orc": orc.write_table, "parquet": parquet.write_table}
CONSTANTS = {
    "x": ["0", "0.0", "-0.0D", "0L", "'0'", "CAST('-0.0' AS DOUBLE)", "CAST('NaN' AS DOUBLE)", "0.5", "5", "1e-60", "-1.0D",
          "CAST(0 AS FLOAT)", "CAST('-0.0' AS FLOAT)", "CAST('Infinity' AS DOUBLE)"],
    "f": ["0", "0.0D", "-0.0D", "CAST('-0.0' AS FLOAT)", "CAST('NaN' AS FLOAT)", "0.5D", "1", "CAST('NaN' AS DOUBLE)"],
    "i": ["0", "-5", "5L", "0.5", "-10.0D", str(FIRST_INT + 3), str(FIRST_INT + 9), f"{FIRST_INT}L", str((1 << 31) - 7)],
    "b": ["0", "-7", f"{FIRST_BIGINT + 4}L", f"{FIRST_BIGINT + 2000}L", "0.5", "9223372036854775000L", "'5'"],
}  # fmt: skip
VALUES = {
    "CAST('-0.0' AS DOUBLE)": -0.0, "CAST('-0.0' AS FLOAT)": -0.0, "CAST(0 AS FLOAT)": 0, "CAST('NaN' AS DOUBLE)": math.nan,
    "CAST('NaN' AS FLOAT)": math.nan, "CAST('Infinity' AS DOUBLE)": math.inf,
}  # fmt: skip
OPERATORS = ("=", "<>", "<", "<=", ">", ">=", "<=>")

Row = dict[str, Any]
Truth = bool | None


@dataclass(frozen=True)
class Condition:
    """SQL, and its meaning for a row."""

    sql: str
    holds: Callable[[Row], Truth]


def value_of(constant: str) -> float:
    text = constant.strip("'").removesuffix("D").removesuffix("L")
    return VALUES[constant] if constant in VALUES else int(text) if text.lstrip("-").isdigit() else float(text)


def order(value: float) -> tuple[int, float]:
    """NaN is equal to itself and above all numbers, and both zeros are equal."""
    return (1, 0) if isinstance(value, float) and math.isnan(value) else (0, value)


def compared(op: str, a: float | None, b: float | None) -> Truth:
    if op == "<=>":
        return a is b if a is None or b is None else order(a) == order(b)
    if a is None or b is None:
        return None
    left, right = order(a), order(b)
    return {
        "=": left == right, "<>": left != right, "<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right
    }[op]  # fmt: skip


def any_of(truths: list[Truth]) -> Truth:
    return True if True in truths else None if None in truths else False


def negated(truth: Truth) -> Truth:
    return None if truth is None else not truth


def comparison(seed: random.Random) -> Condition:
    column = seed.choice(list(COLUMNS))
    constants = CONSTANTS[column]
    kind = seed.choice(["compare", "compare", "compare", "flip", "in", "between", "subquery"])
    first, second = seed.choice(constants), seed.choice(constants)
    a, b = value_of(first), value_of(second)
    op = seed.choice(OPERATORS)
    match kind:
        case "compare":
            return Condition(f"{column} {op} {first}", lambda row: compared(op, row[column], a))
        case "flip":
            return Condition(f"{first} {op} {column}", lambda row: compared(op, a, row[column]))
        case "subquery":
            op = op if op != "<=>" else "="
            return Condition(f"{column} {op} (SELECT {first})", lambda row: compared(op, row[column], a))
        case "in":
            return Condition(
                f"{column} IN ({first}, {second})",
                lambda row: any_of([compared("=", row[column], each) for each in (a, b)]),
            )
        case _:
            return Condition(
                f"{column} BETWEEN {first} AND {second}",
                lambda row: negated(
                    any_of([negated(compared(">=", row[column], a)), negated(compared("<=", row[column], b))])
                ),
            )


def condition(seed: random.Random, depth: int = 2) -> Condition:
    kind = seed.choice(["leaf", "leaf", "not", "and", "or", "is true", "case"]) if depth else "leaf"
    if kind == "leaf":
        return comparison(seed)
    one = condition(seed, depth - 1)
    if kind == "not":
        return Condition(f"NOT ({one.sql})", lambda row: negated(one.holds(row)))
    if kind == "is true":
        return Condition(f"({one.sql}) IS NOT TRUE", lambda row: one.holds(row) is not True)
    if kind == "case":
        return Condition(f"CASE WHEN {one.sql} THEN false ELSE true END", lambda row: one.holds(row) is not True)
    other = condition(seed, depth - 1)
    if kind == "or":
        return Condition(f"({one.sql} OR {other.sql})", lambda row: any_of([one.holds(row), other.holds(row)]))
    return Condition(
        f"({one.sql} AND {other.sql})",
        lambda row: negated(any_of([negated(one.holds(row)), negated(other.holds(row))])),
    )


def literal(value: Any, type_: str) -> str:
    text = str(value).replace("nan", "NaN").replace("inf", "Infinity")
    return f"CAST({'NULL' if value is None else repr(text)} AS {type_})"


def rows_of(seed: random.Random) -> list[Row]:
    """Groups of rows that become files: most of one value or two."""
    rows: list[Row] = []
    for group in range(10):
        chosen = {name: seed.sample(values, seed.choice((1, 1, 2))) for name, (_, values) in COLUMNS.items()}
        for _ in range(3):
            rows.append({"k": len(rows), "g": group, **{name: seed.choice(values) for name, values in chosen.items()}})
    return rows


def run(session: Session, text: str) -> list[tuple[Any, ...]]:
    return [row for statement in session.statements(text) for row in session.execute(statement).rows]


def create_tables(session: Session, rows: list[Row], folder: Path) -> None:
    columns = "k INT, g INT, " + ", ".join(f"{name} {type_}" for name, (type_, _) in COLUMNS.items())
    values = ", ".join(
        f"({row['k']}, {row['g']}, {', '.join(literal(row[n], t) for n, (t, _) in COLUMNS.items())})" for row in rows
    )
    for name, spec in SPECS.items():
        run(session, f"CREATE TABLE {name} ({columns}) {spec}; INSERT INTO {name} VALUES {values}")
    types = pa.schema(
        {"k": pa.int32(), "g": pa.int32(), "x": pa.float64(), "f": pa.float32(), "i": pa.int32(), "b": pa.int64()}
    )
    for name, write in FILES.items():
        (folder / name).mkdir(parents=True)
        for group in {row["g"] for row in rows}:
            table = pa.Table.from_pylist([row for row in rows if row["g"] == group], types)
            write(table, f"{folder / name}/{group}.{name}")
        run(session, f"CREATE EXTERNAL TABLE {name} ({columns}) STORED AS {name} LOCATION '{folder / name}'")


def selected(session: Session, table: str, conditions: list[Condition]) -> Iterator[tuple[Condition, set[int]]]:
    """The keys of the rows for which each condition is true: each is a scan of its own."""
    branches = (f"SELECT {n} AS n, k FROM {table} WHERE {each.sql}" for n, each in enumerate(conditions))
    returned = [tuple(row) for row in run(session, " UNION ALL ".join(branches))]
    for n, each in enumerate(conditions):
        yield each, {k for number, k in returned if number == n}


def files_of(table: str, rows: list[Row]) -> int:
    """At least so many files have the rows."""
    parts: dict[str, Callable[[Row], object]] = {
        "managed": lambda row: row["g"],
        "by_double": lambda row: row["x"] is not None and order(row["x"]),
        "by_float": lambda row: row["f"] is not None and order(row["f"]),
        "truncated": lambda row: (row["i"] is not None and row["i"] // 10, row["b"] is not None and row["b"] // 1000),
    }
    return len(set(map(parts[table], rows)))


def explained_files(session: Session, table: str, where: str) -> int | None:
    """The largest number of files that EXPLAIN expects to be read; None if it shows none."""
    text = "\n".join(str(line) for (line,) in run(session, f"EXPLAIN SELECT k FROM {table} WHERE {where}"))
    found = re.search(r"iceberg.files: at most (\d+)", text)
    return int(found[1]) if found else None


def differences(session: Session, seed: random.Random, folder: Path, conditions: int, deletes: int) -> list[str]:
    """What differs from the conditions over all rows, in SELECT and then DELETE."""
    rows = rows_of(seed)
    create_tables(session, rows, folder)
    found = []
    for table in (*SPECS, *FILES):
        tried = [condition(seed) for _ in range(conditions)]
        for each, keys in selected(session, table, tried):
            right = {row["k"] for row in rows if each.holds(row) is True}
            if keys != right:
                lost, more = ([row for row in rows if row["k"] in some] for some in (right - keys, keys - right))
                found.append(f"{table}: {each.sql}: lost {lost}, more {more}")
            files = explained_files(session, table, each.sql) if table in SPECS else None
            if files is not None and files < files_of(table, [row for row in rows if row["k"] in right]):
                found.append(f"{table}: EXPLAIN {each.sql}: at most {files} files for {right}")
    for table in SPECS:
        left = rows
        for _ in range(deletes):
            each = comparison(seed)
            run(session, f"DELETE FROM {table} WHERE {each.sql}")
            before, left = left, [row for row in left if each.holds(row) is not True]
            keys = {k for (k,) in run(session, f"SELECT k FROM {table}")}
            if keys != {row["k"] for row in left}:
                wrong = [row for row in before if (row in left) != (row["k"] in keys)]
                found.append(f"{table}: DELETE WHERE {each.sql}: {wrong}")
                break
    return found


def main() -> None:
    first, rounds = int(sys.argv[1]), int(sys.argv[2])
    for number in range(first, first + rounds):
        with TemporaryDirectory() as folder, sharing_spark(), Session(Path(folder) / "home") as session:
            found = differences(session, random.Random(number), Path(folder) / "files", 60, 6)
        print(number, *(found or ["no differences"]), sep="\n  ", flush=True)
        if found:
            sys.exit(1)


if __name__ == "__main__":
    main()
