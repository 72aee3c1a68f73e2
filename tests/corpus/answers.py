"""The outcome of each query of a script: its plan, why a part of it stays outside Druid, and its rows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hivedruid.actions.build import build
from hivedruid.actions.gather import gather
from hivedruid.actions.select.model import AnswerRows, AskValues, EvaluateLocally, RunDruidQuery, RunSparkJob
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import StatementPlan
from hivedruid.catalog.types import HiveType
from hivedruid.cells import hive_text
from hivedruid.errors import HiveDruidError
from hivedruid.parser import parse
from hivedruid.parser.statements import Query
from hivedruid.plan.physical import DruidInput
from hivedruid.plan.reasons import left_outside
from hivedruid.plan.split import QueryPlan, plan_query
from hivedruid.script import SourceStatement
from hivedruid.session import Session
from tests.corpus.sample import NOW
from tests.equivalence.comparison import Rows

FOLDER = Path(__file__).parent / "queries"
SHOWN = 12
"""Rows that an expectation lists; for more there is a digest."""


@dataclass(frozen=True)
class Answer:
    """A query and its outcome: `facts` are lines of an expectation. `rows` are None if only Spark can compute them, and
    if the query is refused.
    """

    sql: str
    facts: tuple[str, ...]
    rows: Rows | None = None
    types: tuple[HiveType, ...] = ()
    is_ordered: bool = False
    needs_spark: bool = False

    @property
    def text(self) -> str:
        """The block of the expectation; without rows it ends after the facts."""
        listed = [] if self.rows is None else _listed(self.rows, self.types, is_ordered=self.is_ordered)
        return "".join(f"{line}\n" for line in (f"{self.sql};", *(f"-- {f}" for f in (*self.facts, *listed))))


@dataclass(frozen=True)
class Asked:
    """A query of a script that has a plan, in its session."""

    session: Session
    statement: SourceStatement
    query: Query
    snapshot: Snapshot
    built: StatementPlan

    @property
    def sql(self) -> str:
        return " ".join(self.statement.text.split())

    @property
    def plan(self) -> QueryPlan:
        return self.built.plans[0]

    @property
    def types(self) -> tuple[HiveType, ...]:
        return tuple(column.type for column in self.plan.columns)

    @property
    def is_ordered(self) -> bool:
        return self.query.expression.args.get("order") is not None

    @property
    def needs_spark(self) -> bool:
        return isinstance(self.built.actions[-1], RunSparkJob)

    def rows(self) -> Rows:
        """The result of hivedruid."""
        return [tuple(row) for row in self.session.execute(self.statement).rows]

    def planned(self, **facts: Any) -> QueryPlan:
        """The plan with other facts."""
        return plan_query(self.query.expression, self.statement, replace(self.snapshot, **facts))

    def bare(self) -> QueryPlan:
        """The plan with nothing pushed down."""
        return plan_query(self.query.expression, self.statement, self.snapshot, rules=())


def scripts() -> list[Path]:
    return sorted(FOLDER.glob("*.sql"))


def expectation(script: Path) -> Path:
    return script.with_suffix(".expected")


def blocks(text: str) -> list[str]:
    """The blocks of an expectation."""
    return [f"{block.strip()}\n" for block in text.split("\n\n") if block.strip()]


def asked(script: Path, home: Path) -> Iterator[Asked | Answer]:
    """The queries of a script, one after the other; a refused one already has its result."""
    settings = {"hivedruid.now": NOW, "hive.local.time.zone": "UTC"}
    with Session(home, hiveconf=settings) as session:
        for statement in session.statements(script.read_text(encoding="utf-8"), str(script)):
            yield from _asked(session, statement)


def _asked(session: Session, statement: SourceStatement) -> Iterator[Asked | Answer]:
    try:
        parsed = parse(statement)
        if not isinstance(parsed, Query):
            session.execute(statement)
            return
        snapshot = gather(parsed, session.facts())
        built = build(parsed, snapshot)
    except HiveDruidError as error:
        span = error.span
        where = f" at {span.source_line[span.column - 1 : span.column - 1 + span.length]!r}" if span else ""
        facts = [f"refused: {error.message}{where}", *([f"hint: {error.hint}"] if error.hint else [])]
        yield Answer(" ".join(statement.text.split()), tuple(facts))
        return
    yield Asked(session, statement, parsed, snapshot, built)


def answer(asked: Asked, *, spark: bool) -> Answer:
    """The query with its result; without Spark if it is not allowed to start."""
    needs = asked.needs_spark
    rows = asked.rows() if spark or not needs else None
    return Answer(asked.sql, tuple(_facts(asked)), rows, asked.types, asked.is_ordered, needs)


# --- the plan ----------------------------------------------------------------------------------------------------


def _facts(asked: Asked) -> Iterator[str]:
    *first, action = asked.built.actions
    queries = [ask.read.query for step in first if isinstance(step, AskValues) for ask in step.asks]
    if queries:
        yield f"asks first: {_shapes(queries)}"
    queries = _queries(action)
    match action:
        case AnswerRows():
            yield "plan: a constant"
            return
        case RunDruidQuery():
            yield f"plan: one native query: {_shapes(queries)}"
        case EvaluateLocally():
            yield f"plan: partly, the rest here: {_shapes(queries)}"
        case _:
            yield f"plan: partly, the rest on Spark: {_shapes(queries)}" if queries else "plan: not"
    times = list(dict.fromkeys(time for query in queries for time in _intervals(query)))
    if times:
        yield f"intervals: {', '.join(times)}"
    if not isinstance(action, RunDruidQuery):
        yield from dict.fromkeys(f"outside: {left.operator}: {left.reason}" for left in left_outside(asked.plan))


def _queries(action: object) -> list[Mapping[str, Any]]:
    match action:
        case RunDruidQuery():
            return [action.read.query]
        case EvaluateLocally():
            return [item.read.query for item in action.plan.inputs]
        case RunSparkJob():
            return [item.read.query for item in action.job.inputs if isinstance(item, DruidInput)]
    return []


def _shapes(queries: list[Mapping[str, Any]]) -> str:
    return ", ".join(_shape(query) for query in queries) or "no native query"


def _shape(query: Mapping[str, Any]) -> str:
    """The query's type, and its data source if that is not a table."""
    source = query["dataSource"]
    if isinstance(source, str) or source["type"] == "table":
        return str(query["queryType"])
    inner = _shape(source["query"]) if source["type"] == "query" else source["type"]
    return f"{query['queryType']} of {inner}"


def _intervals(value: Any) -> Iterator[str]:
    """The intervals of a native query and of those inside it."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key == "intervals":
                yield from (_time(text) for text in (item["intervals"] if isinstance(item, Mapping) else item))
            else:
                yield from _intervals(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _intervals(item)


def _time(text: str) -> str:
    start, _, end = (part.replace(":00.000Z", "Z").replace("T00:00Z", "") for part in text.partition("/"))
    bounds = ("" if start.startswith("-") else start, "" if len(end.partition("-")[0]) > 4 else end)
    return "always" if bounds == ("", "") else "/".join(bounds)


# --- rows --------------------------------------------------------------------------------------------------------


def _listed(rows: Rows, types: tuple[HiveType, ...], *, is_ordered: bool) -> list[str]:
    """The rows as strings, sorted if the query does not order them."""
    forms = [hive_text(type_) for type_ in types]
    lines = ["\t".join(_cell(v, form) for v, form in zip(row, forms, strict=True)) for row in rows]
    lines = lines if is_ordered else sorted(lines)
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]
    more = [f"  … {len(lines) - SHOWN} more, {digest}"] if len(lines) > SHOWN else []
    return [f"rows: {len(lines)}", *(f"  {line}" for line in lines[:SHOWN]), *more]


def _cell(value: Any, form: Callable[[Any], str]) -> str:
    """A value as Hive prints it; quoted if it has invisible characters."""
    text = "NULL" if value is None else form(value)
    return text if text and text.isprintable() and text == text.strip() else repr(text)
