"""EXPLAIN: the same actions that `execute` runs, as text in Hive's user-level shape, or as one JSON document."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from hivedruid.actions.build import build
from hivedruid.actions.families import explainer, family_of
from hivedruid.actions.model import OverJob
from hivedruid.actions.statement_plan import Note, StatementPlan
from hivedruid.results import Result, text_result

if TYPE_CHECKING:
    from hivedruid.actions.snapshot import Snapshot
    from hivedruid.catalog.table import Table
    from hivedruid.parser.statements import Explain, Statement
    from hivedruid.plan.split import QueryPlan
    from hivedruid.plan.tier_parts import TierPart


Build = Callable[["Statement", "Snapshot", Note | None], StatementPlan]
_TierParts = tuple["Table", list["TierPart"]]
"""A tiered table, and its parts in a query."""


def explain(statement: Explain, snapshot: Snapshot, note: Note | None = None, build: Build = build) -> Result:
    """The plan of a statement; nothing is executed."""
    if note is not None:
        for text, span in statement.notes:
            note(text, span)
    detailed = statement.mode in ("extended", "formatted")
    snapshot = replace(snapshot, plan_only=True, traces_rules=statement.mode == "cbo", lists_segments=detailed)
    built = build(statement.statement, snapshot, note)
    settings = snapshot.settings
    tiers = list(_tier_parts(statement.statement, built, snapshot))
    if statement.mode == "formatted":
        functions = {"functions": [each.described for each in snapshot.called]} if snapshot.called else {}
        text = json.dumps({**document(built, settings, tiers), **functions}, indent=2, ensure_ascii=False)
        return text_result("Explain", text, is_json=True)
    if statement.mode in ("cbo", "logical"):
        return text_result("Explain", "\n".join(_cbo(built) if statement.mode == "cbo" else _logical(built)))
    if statement.mode in ("dependency", "ddl"):
        from hivedruid.actions.explain_tables import ddl, dependencies

        return ddl(snapshot) if statement.mode == "ddl" else dependencies(built, snapshot)
    extended = [*_extended(built, snapshot), *_projections(built, snapshot)] if statement.mode == "extended" else []
    tiered = _tiered(tiers, settings.get("hivedruid.tiered.read", "exact").lower())
    own = ["", "Functions:", *(f"  {each.described}" for each in snapshot.called)] if snapshot.called else []
    estimated = _estimated(built)
    return text_result("Explain", "\n".join([*user_level(built, settings), *own, *tiered, *estimated, *extended]))


# --- user level ------------------------------------------------------------------------------------------------


def user_level(built: StatementPlan, settings: Mapping[str, str]) -> list[str]:
    """The actions as Hive's user-level EXPLAIN shows a plan; `settings` are the session's."""
    lines = [line for a in built.actions for line in explainer(family_of(a)).lines(a, settings)] or ["nothing to do"]
    return ["Plan optimized by CBO.", "", *lines] if built.plans else lines


def _estimated(built: StatementPlan) -> list[str]:
    """The aggregates that are estimates, with their errors."""
    from hivedruid.plan.estimates import estimates

    found = [str(estimate) for plan in built.plans for estimate in estimates(plan)]
    return ["", "Estimates:", *(f"  {line}" for line in found)] if found else []


def _tiered(parts: Sequence[_TierParts], setting: str) -> Iterator[str]:
    """What is read of each part of the tiered tables, and why a part is not read."""
    for table, found in parts:
        from hivedruid.plan.tier_parts import texts

        yield from ("", f"Tiered table {table.full_name}:")
        yield from (f"  {part}: {text}" for part, text in texts(table, found, setting))


def _tier_parts(statement: Statement, built: StatementPlan, snapshot: Snapshot) -> Iterator[_TierParts]:
    """The tiered tables that queries read, and their parts; statements that move rows read one part."""
    if not snapshot.tiers or family_of(statement) == "tiering":
        return
    found = [part for plan in built.plans for part in plan.tier_parts]
    for _, table in sorted(snapshot.tables.items()):
        if parts := [part for part in found if part.table_id == table.table_id]:
            yield table, parts


# --- EXTENDED and CBO ------------------------------------------------------------------------------------------


def _extended(built: StatementPlan, snapshot: Snapshot) -> list[str]:
    from hivedruid.actions.select.figures import figures
    from hivedruid.plan.reasons import left_outside

    lines: list[str] = []
    for plan in built.plans:
        lines += ["", "Rules:", *(f"  {name}" for name in _counted(plan.fired))]
        left = left_outside(plan)
        lines += (
            ["", "Outside Druid:", *(f"  {item.operator}: {item.reason}" for item in left)]
            if left
            else ["", "Outside Druid: nothing"]
        )
        if left and not any(action.evaluates for action in built.actions):
            from hivedruid.evaluation.local import fallback_reason

            lines += ["", f"Local evaluation: no, {fallback_reason(plan) or 'Spark writes the rows'}"]
        if plan.views:
            lines += ["", "Materialized views:", *(f"  {sentence}" for sentence in plan.views)]
        lines += figures(plan)
    if by_version := list(_by_version(built, snapshot)):
        lines += ["", "By the version of Druid:", *(f"  {reason}" for reason in by_version)]
    if any(action.reads for action in built.actions):
        from hivedruid.druid.context import shown_context

        context = json.dumps(shown_context(snapshot.settings), ensure_ascii=False)
        lines += ["", f"Context of native queries: {context}"]
    return lines


def _by_version(built: StatementPlan, snapshot: Snapshot) -> Iterator[str]:
    """What the version of the cluster decides."""
    for action in built.actions:
        yield from action.by_version
    version = snapshot.version
    if version is None:
        return
    from hivedruid.actions.compacting.model import ConfigureCompaction, ListCompactions
    from hivedruid.druid.projections import without_projections

    if any(isinstance(a, ConfigureCompaction | ListCompactions) and a.is_possible for a in built.actions):
        yield version.reason("compaction requests")
    queries = [read.query for action in built.actions for read in action.reads]
    if not version.has("projections in part") and any(without_projections(query) != query for query in queries):
        yield f"{version.reason('projections in part')}: the context has noProjections"


def _projections(built: StatementPlan, snapshot: Snapshot) -> list[str]:
    """The native queries that projections of tables can answer."""
    tables = {table.data_source: table for table in snapshot.tables.values() if "druid.projections" in table.properties}
    if not tables:
        return []
    from hivedruid.druid.projections import answering, projections_of

    found = []
    for query in (read.query for action in built.actions for read in action.reads):
        table = tables.get(str(query.get("dataSource")))
        name = None if table is None else answering(query, projections_of(table))
        if table is not None:
            text = f"'{name}' has the columns and aggregators of the {query['queryType']} query" if name else "none"
            found.append(f"  {table.full_name}: {text}")
    return ["", "Projections:", *found] if found else []


def _counted(names: Iterable[str]) -> list[str]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return [name if count == 1 else f"{name} ({count})" for name, count in counts.items()]


def _cbo(built: StatementPlan) -> list[str]:
    from hivedruid.plan.show import tree

    if not built.plans:
        return ["CBO PLAN:", "no query"]
    lines = [line for plan in built.plans for line in ["", "CBO PLAN:", *tree(plan.node), *_after_rules(plan)]]
    return lines[1:]


def _logical(built: StatementPlan) -> list[str]:
    from hivedruid.plan.show import tree

    lines = [line for plan in built.plans for line in ["", "LOGICAL PLAN:", *tree(plan.node)]]
    return lines[1:] or ["LOGICAL PLAN:", "no query"]


def _after_rules(plan: QueryPlan) -> Iterator[str]:
    """The plan after each rule that fired; of a rule that fired several times in a row, after the last time."""
    from hivedruid.plan.show import tree

    steps = [
        (name, list(same)) for name, same in groupby(zip(plan.fired, plan.after_rules, strict=True), lambda s: s[0])
    ]
    for name, same in steps:
        times = f" ({len(same)})" if len(same) > 1 else ""
        yield from ("", f"After {name}{times}:", *(f"  {line}" for line in tree(same[-1][1])))


# --- FORMATTED -------------------------------------------------------------------------------------------------


def document(built: StatementPlan, settings: Mapping[str, str], tiers: Sequence[_TierParts] = ()) -> dict[str, Any]:
    """`druid_queries` (native queries), `residual` (null, or Spark SQL and why), `operators` (trees of `steps`),
    `actions`, `estimates` if aggregates are estimated, and `tiered` for queries of tiered tables."""
    from hivedruid.actions.steps import steps
    from hivedruid.plan_steps import to_document

    jobs = [a.job for a in built.actions if isinstance(a, OverJob)]
    residual = None
    if jobs:
        from hivedruid.plan.reasons import left_outside

        reasons = [{"operator": x.operator, "reason": x.reason} for plan in built.plans for x in left_outside(plan)]
        residual = {"sql": jobs[0].sql if len(jobs) == 1 else [job.sql for job in jobs], "operators": reasons}
    return {
        "druid_queries": [read.query for action in built.actions for read in action.reads],
        "residual": residual,
        "rules": [name for plan in built.plans for name in _counted(plan.fired)],
        "operators": [to_document(step) for step in steps(built)],
        "actions": [
            {"action": type(a).__name__, **explainer(family_of(a)).document(a, settings)} for a in built.actions
        ],
        **_estimates_document(built),
        **_tiered_document(tiers),
    }


def _estimates_document(built: StatementPlan) -> dict[str, Any]:
    from hivedruid.plan.estimates import estimates

    found = [{"call": each.call, "method": each.method} for plan in built.plans for each in estimates(plan)]
    return {"estimates": found} if found else {}


def _tiered_document(tiers: Sequence[_TierParts]) -> dict[str, Any]:
    from hivedruid.plan.tier_parts import document as part_document

    found = {table.full_name: [part_document(part) for part in parts] for table, parts in tiers}
    return {"tiered": found} if found else {}


__all__ = ["document", "explain", "user_level"]
