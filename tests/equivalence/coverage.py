"""The coverage of the generated queries: operators by types, each with nulls and in every zone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hivedruid.catalog.types import TIMESTAMP_LTZ
from hivedruid.plan import nodes
from hivedruid.plan.nodes import Node, PlanColumn
from hivedruid.plan.rex import Agg, Call, Ref, Rex, Subquery, walk
from hivedruid.plan.split import QueryPlan
from tests.equivalence.tables import TIME_TYPES, ZONES, World

PAGE = Path(__file__).parents[2] / "docs" / "equivalence.md"

NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double")
INTEGERS = NUMBERS[:4]
STAMPS = tuple(time.name for time in TIME_TYPES)
ZONED = (TIMESTAMP_LTZ.name, "date")
TYPES = (*NUMBERS, "string", "boolean", "date", *STAMPS)

_UNITS = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")

REQUIRED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("=", "<>"), TYPES),
    **dict.fromkeys(("<", "<=", ">", ">="), tuple(t for t in TYPES if t != "boolean")),
    **dict.fromkeys(("<=>", "is_null", "is_not_null", "in"), TYPES),
    **dict.fromkeys(("like", "rlike"), ("string",)),
    **dict.fromkeys(("and", "or", "not", "is_true", "is_false", "is_not_true", "is_not_false"), ("boolean",)),
    **dict.fromkeys(("+", "-"), (*NUMBERS, *STAMPS)),
    **dict.fromkeys(("*", "/", "%", "negative", "abs", "round", "floor", "ceil", "sqrt", "sign", "ln", "log10", "power", "pmod"), NUMBERS),
    "div": INTEGERS,
    **dict.fromkeys(("&", "|", "^"), INTEGERS),
    **dict.fromkeys(("case", "coalesce", "cast"), TYPES),
    **dict.fromkeys(("greatest", "least"), tuple(t for t in TYPES if t != "boolean")),
    **dict.fromkeys(("upper", "lower", "trim", "ltrim", "rtrim", "reverse", "length", "substring", "concat", "lpad", "rpad", "repeat", "replace",
                     "instr", "regexp_extract", "regexp_replace"), ("string",)),
    **{f"floor_{unit}": STAMPS for unit in _UNITS},
    **{f"ceil_{unit}": STAMPS for unit in _UNITS},
    **{f"extract_{unit}": (*STAMPS, "date") for unit in ("year", "quarter", "month", "week", "day", "dayofweek")},
    **{f"extract_{unit}": STAMPS for unit in ("hour", "minute", "second")},
    **dict.fromkeys(("date_add", "date_sub"), ("date",)),
    "datediff": ("date",),
    **dict.fromkeys(("date_format", "unix_timestamp"), STAMPS),
    "count": TYPES,
    "count distinct": tuple(t for t in TYPES if t != "float"),
    **dict.fromkeys(("sum", "avg"), NUMBERS),
    **dict.fromkeys(("sum distinct", "avg distinct"), ("int", "bigint", "double")),
    **dict.fromkeys(("min", "max"), TYPES),
    **dict.fromkeys(("stddev_pop", "stddev_samp", "var_pop", "var_samp"), ("tinyint", "smallint", "int")),
    **dict.fromkeys(("… FILTER", "GROUP BY", "ORDER BY"), ()),
}  # fmt: skip
"""Operator → the types of its first argument (of `case`, its result) that must be covered."""
REQUIRED["… FILTER"] = ("bigint", "double", "string")
REQUIRED["GROUP BY"] = TYPES
REQUIRED["ORDER BY"] = tuple(t for t in TYPES if t not in ("float", "double"))


@dataclass
class Coverage:
    """The zones in which each operator was applied to each type, and whether with nulls."""

    zones: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    nulls: set[tuple[str, str]] = field(default_factory=set)
    shapes: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    """For each query of a shape in the sweep, whether it was one native query."""

    def record(self, plan: QueryPlan, world: World) -> None:
        """Record the operators of a plan (nothing pushed down)."""
        nullable = _nullable(plan.node, world)
        for operator, type_, rex in _uses(plan.node):
            cell = (operator, type_)
            self.zones[cell].add(world.zone)
            if any(isinstance(part, Ref) and part.id in nullable for part in walk(rex)):
                self.nulls.add(cell)

    def is_covered(self, operator: str, type_: str) -> bool:
        """Covered with nulls (a time column has none), and in every zone if the type depends on one."""
        cell = (operator, type_)
        zones = len(ZONES) if type_ in ZONED else 1
        return len(self.zones[cell]) >= zones and (cell in self.nulls or type_ in (*STAMPS, "date"))

    def missing(self) -> list[str]:
        return [
            f"{operator} of {type_} (zones: {', '.join(sorted(self.zones[operator, type_])) or 'none'}; nulls: {(operator, type_) in self.nulls})"
            for operator, types in REQUIRED.items()
            for type_ in types
            if not self.is_covered(operator, type_)
        ]

    def table(self) -> list[str]:
        lines = [f"| operator | {' | '.join(_short(t) for t in TYPES)} |", f"|---|{'---|' * len(TYPES)}"]
        for operator, types in REQUIRED.items():
            cells = [("●" if self.is_covered(operator, t) else " ") if t in types else "–" for t in TYPES]
            name = operator.replace("|", "\\|")
            lines.append(f"| `{name}` | {' | '.join(cells)} |")
        return lines

    def shape_table(self) -> list[str]:
        rows = [f"| {name} | {len(whole)} | {sum(whole)} |" for name, whole in self.shapes.items()]
        return ["| shape | queries | one native query |", "|---|---|---|", *rows]


def _short(type_: str) -> str:
    return type_.replace("timestamp with local time zone", "timestamp ltz")


def _nullable(node: Node, world: World) -> set[str]:
    """Ids of table columns that contain nulls in this world."""
    found = set()
    for scan in _walk(node):
        if isinstance(scan, nodes.TableScan):
            table = next(t for t in world.tables if t.table.name == scan.table.name)
            names = [c.name for c in table.table.columns]
            for column in scan.columns:
                position = names.index(column.name)
                if any(row[position] is None for row in table.rows):
                    found.add(column.id)
    for one in reversed(list(_walk(node))):
        found |= {column.id for column, rex in _handed_on(one) if isinstance(rex, Ref) and rex.id in found}
    return found


def _handed_on(node: Node) -> Iterator[tuple[PlanColumn, Rex]]:
    """Output columns that are a column of the input, and that column."""
    if isinstance(node, nodes.Aggregate):
        yield from zip(node.columns, node.keys, strict=False)
    elif isinstance(node, nodes.Project):
        yield from zip(node.columns, node.exprs, strict=True)


def _walk(node: Node) -> Iterator[Node]:
    for one in node.walk():
        yield one
        for rex in one.expressions():
            for part in walk(rex):
                if isinstance(part, Subquery):
                    yield from _walk(part.plan)


def _uses(node: Node) -> Iterator[tuple[str, str, Rex]]:
    for one in _walk(node):
        if isinstance(one, nodes.Aggregate):
            yield from (("GROUP BY", key.type.name, key) for key in one.keys)
        if isinstance(one, nodes.Sort):
            yield from (("ORDER BY", key.rex.type.name, key.rex) for key in one.keys)
        for rex in one.expressions():
            for part in walk(rex):
                if isinstance(part, Call):
                    type_ = part.type if part.op == "case" or not part.args else part.args[0].type
                    yield part.op, type_.name, part
                elif isinstance(part, Agg) and part.args:
                    type_ = part.args[0].type
                    yield f"{part.op} distinct" if part.distinct else part.op, type_.name, part
                    if part.condition is not None:
                        yield "… FILTER", type_.name, part


PREFACE = """# Equivalence: no rewrite changes a result

`tests/equivalence` runs each query three times: planned with all rules, with its native queries on the embedded store
and the rest on Spark; with the same native queries on a Druid cluster that contains the same rows; and with no rules at
all, on Spark over the raw rows. All results must be equal: as lists if ORDER BY determines the order completely, else
as multisets; doubles to nine digits. In `make test`, Spark only computes the answers that it has not confirmed before:
`confirmed.txt` contains a digest of each confirmed answer, its query and its rows (`make update-references`).

- **Local evaluation** is a fourth way, for queries that it supports: the part of the pushed-down plan that runs outside
  Druid, and the whole query over plain scans.
- **Tiered tables** are a fifth way (`tiered.py`): the same random queries over tables with the same rows, which arrive in
  two or three rounds. After each round but the last, the rows before a random time are archived, so that some rows are
  late; in half of the tables a last archive job is interrupted while its rows are in both parts.
- **The sweep** applies every operator of `operators.py` to every column, over tables that contain every edge value of
  every type, in six session zones (including clocks that change at midnight) and for both types of `__time`. It also
  runs the queries of `shapes.py`, which cover everything beyond one SELECT over one table.
- **Random queries** (`queries.py`) nest those operators over random tables (`tables.py`): projections, conditions,
  groups, HAVING, ORDER BY with every null order, LIMIT and OFFSET, DISTINCT, queries over queries; a third of them are
  the shapes with random parts. At least 60 % of all must be fully pushed down. In all zones but one the planner knows
  the numbers of rows of the tables, so that joins can be pushed down.
- **The Druid cluster** (`real.py`) ingests every table with the task that the embedded store runs, in segments of a
  year, and runs every native query of both, including those that are only a part of a query. Queries that it can
  vectorize run twice, with the default `vectorize` and with `false`: its two engines differ in some results (-0.0), and
  the whole query determines which of them is used. A query that Druid refuses for lack of resources is not a
  difference.

`make test` runs the sweep and 300 random queries from a fixed seed, some 60 of them over tiered tables, too.
`make equivalence N=5000` runs 5000 from a new seed, which it prints, and all of them over tiered tables, too, with every
answer computed by Spark;
`HIVEDRUID_EQUIVALENCE_SEED` repeats that seed. If the results of a query differ, the query and then its rows are shrunk,
and both plans are printed. `HIVEDRUID_TEST_CLUSTER=<home>` uses the local cluster of that home and keeps it running,
instead of one that the tests start and stop.

The embedded store and Druid agree only on what plans use: plans never depend on the sign of a zero, on bounds of LONGs
that are not doubles, or on a constant division by zero, and the store reproduces only the second of these. All three
ways share the translation of Hive's expressions: the first two to Druid's, the third to Spark SQL's. Errors in that
translation cannot be detected by comparing them: `tests/q/hive_spark_differences.q` contains Hive's results.

## Coverage

On all three ways: ● the operator was applied to the type of its first argument, with nulls if a column of the type can
contain them, and in all zones if the type depends on one · – does not apply.
`python -m pytest tests/equivalence --update-coverage` writes this page.

"""


SHAPES_PREFACE = """
## Shapes of queries

The queries of each shape in the sweep, and how many of them become one native query; the others also use Spark.

"""


def page(coverage: Coverage) -> str:
    return PREFACE + "\n".join(coverage.table()) + "\n" + SHAPES_PREFACE + "\n".join(coverage.shape_table()) + "\n"
