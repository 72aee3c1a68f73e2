"""The families of statements and actions, and the modules that build, explain and run each. A family is loaded on first
use.

A family has a module of statements (`parser/statements/F.py`), a module of actions (`actions/F/model.py`), and beside
that `build.py`, `explain.py` and `run.py`, as needed. mypy checks that a family handles every class of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal, assert_never, get_args

from hivedruid.actions.model import Action
from hivedruid.parser.statements import Statement
from hivedruid.results import Result

if TYPE_CHECKING:
    from hivedruid.actions.operators import Explainer
    from hivedruid.actions.services import Services
    from hivedruid.actions.snapshot import Snapshot
    from hivedruid.actions.statement_plan import Note, StatementPlan

    Builder = Callable[[Statement, Snapshot, Note | None], StatementPlan]
    Runner = Callable[[Action, Services], Result | None]

Family = Literal[
    "select",
    "ddl",
    "utility",
    "writing",
    "ingesting",
    "streaming",
    "compacting",
    "snapshots",
    "partitioning",
    "tiering",
    "materialized",
    "statistics",
    "watching",
]
_STATEMENTS = "hivedruid.parser.statements"
_ACTIONS = "hivedruid.actions"
_NAMES: tuple[Family, ...] = get_args(Family)
FAMILIES: Mapping[str, Family] = {
    _STATEMENTS: "select",
    **{f"{_STATEMENTS}.{name}": name for name in _NAMES},
    **{f"{_ACTIONS}.{name}.model": name for name in _NAMES},
}
"""By the module that defines the class, so that a lookup imports nothing."""


def family_of(value: Statement | Action) -> Family:
    """The family that a statement or an action belongs to."""
    return FAMILIES[type(value).__module__]


def builder(family: Family) -> Builder:
    """The function that builds the actions of the family's statements."""
    match family:
        case "select":
            from hivedruid.actions.select import build as select

            return select.build
        case "ddl":
            from hivedruid.actions.ddl import build as ddl

            return ddl.build
        case "utility":
            from hivedruid.actions.utility import build as utility

            return utility.build
        case "writing":
            from hivedruid.actions.writing import build as writing

            return writing.build
        case "ingesting":
            from hivedruid.actions.ingesting import build as ingesting

            return ingesting.build
        case "streaming":
            from hivedruid.actions.streaming import build as streaming

            return streaming.build
        case "compacting":
            from hivedruid.actions.compacting import build as compacting

            return compacting.build
        case "snapshots":
            from hivedruid.actions.snapshots import build as snapshots

            return snapshots.build
        case "partitioning":
            from hivedruid.actions.partitioning import build as partitioning

            return partitioning.build
        case "tiering":
            from hivedruid.actions.tiering import build as tiering

            return tiering.build
        case "materialized":
            from hivedruid.actions.materialized import build as materialized

            return materialized.build
        case "statistics":
            from hivedruid.actions.statistics import build as statistics

            return statistics.build
        case "watching":
            from hivedruid.actions.watching import build as watching

            return watching.build
        case _:
            assert_never(family)


def explainer(family: Family) -> Explainer:
    """The EXPLAIN of the family's actions."""
    match family:
        case "select":
            from hivedruid.actions.select import explain as select

            return select.EXPLAINER
        case "ddl":
            from hivedruid.actions.ddl import explain as ddl

            return ddl.EXPLAINER
        case "utility":
            from hivedruid.actions.utility import explain as utility

            return utility.EXPLAINER
        case "writing":
            from hivedruid.actions.writing import explain as writing

            return writing.EXPLAINER
        case "ingesting":
            from hivedruid.actions.ingesting import explain as ingesting

            return ingesting.EXPLAINER
        case "streaming":
            from hivedruid.actions.streaming import explain as streaming

            return streaming.EXPLAINER
        case "compacting":
            from hivedruid.actions.compacting import explain as compacting

            return compacting.EXPLAINER
        case "snapshots":
            from hivedruid.actions.snapshots import explain as snapshots

            return snapshots.EXPLAINER
        case "partitioning":
            from hivedruid.actions.partitioning import explain as partitioning

            return partitioning.EXPLAINER
        case "tiering":
            from hivedruid.actions.tiering import explain as tiering

            return tiering.EXPLAINER
        case "materialized":
            from hivedruid.actions.materialized import explain as materialized

            return materialized.EXPLAINER
        case "statistics":
            from hivedruid.actions.statistics import explain as statistics

            return statistics.EXPLAINER
        case "watching":
            from hivedruid.actions.watching import explain as watching

            return watching.EXPLAINER
        case _:
            assert_never(family)


def runner(family: Family) -> Runner:
    """The function that runs the family's actions."""
    match family:
        case "select":
            from hivedruid.actions.select import run as select

            return select.run
        case "ddl":
            from hivedruid.actions.ddl import run as ddl

            return ddl.run
        case "utility":
            from hivedruid.actions.utility import run as utility

            return utility.run
        case "writing":
            from hivedruid.actions.writing import run as writing

            return writing.run
        case "ingesting":
            from hivedruid.actions.ingesting import run as ingesting

            return ingesting.run
        case "streaming":
            from hivedruid.actions.streaming import run as streaming

            return streaming.run
        case "compacting":
            from hivedruid.actions.compacting import run as compacting

            return compacting.run
        case "snapshots":
            from hivedruid.actions.snapshots import run as snapshots

            return snapshots.run
        case "partitioning":
            from hivedruid.actions.partitioning import run as partitioning

            return partitioning.run
        case "tiering":
            from hivedruid.actions.tiering import run as tiering

            return tiering.run
        case "materialized":
            from hivedruid.actions.materialized import run as materialized

            return materialized.run
        case "statistics":
            from hivedruid.actions.statistics import run as statistics

            return statistics.run
        case "watching":
            from hivedruid.actions.watching import run as watching

            return watching.run
        case _:
            assert_never(family)
