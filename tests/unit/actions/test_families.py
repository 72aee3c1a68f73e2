"""Every statement and action belongs to a family that builds, explains and runs it, and no code dispatches on class
names.
"""

from __future__ import annotations

import ast
import pkgutil
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pytest

import hivedruid
from hivedruid.actions.build import build
from hivedruid.actions.families import FAMILIES, Family, builder, explainer, family_of, runner
from hivedruid.actions.model import Action
from hivedruid.catalog.databases import NO_DETAILS
from hivedruid.catalog.functions import UserFunction
from hivedruid.catalog.table import Table
from hivedruid.catalog.types import STRING
from hivedruid.parser import parse, statements
from hivedruid.parser.statements import Explain, Query, SourceScript, Statement
from hivedruid.plan.physical import DruidRead
from hivedruid.script import SourceStatement
from tests.support.planning import snapshot

SESSION = (Explain, SourceScript)
"""The session handles these itself."""


def modules(package: ModuleType) -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        yield import_module(found.name)


def all_subclasses(base: type[Any]) -> set[type[Any]]:
    return {found for child in base.__subclasses__() for found in (child, *all_subclasses(child))}


def alternatives(module: str, suffix: str) -> set[type]:
    """The classes of the module's `…Statement` or `…Action`, which `build` and `run` distinguish."""
    family = FAMILIES[module]
    union = getattr(import_module(module), f"{family.title()}{suffix}")
    return set(get_args(union)) or {union}


STATEMENTS = [module.__name__ for module in modules(statements)]
ACTIONS = [name for name in FAMILIES if name.startswith("hivedruid.actions.")]
for _name in ACTIONS:
    import_module(_name)


@pytest.mark.parametrize("module", STATEMENTS)
def test_the_family_decides_between_all_statements_of_its_module(module: str) -> None:
    defined = {kind for kind in all_subclasses(Statement) if kind.__module__ == module}
    assert defined == alternatives(module, "Statement")


@pytest.mark.parametrize("module", ACTIONS)
def test_the_family_decides_between_all_actions_of_its_module(module: str) -> None:
    defined = {kind for kind in all_subclasses(Action) if kind.__module__ == module}
    assert defined == alternatives(module, "Action")


def test_every_statement_and_action_has_a_family() -> None:
    for kind in (*all_subclasses(Statement), *all_subclasses(Action)):
        if kind not in SESSION and kind.__module__.startswith("hivedruid."):
            assert kind.__module__ in FAMILIES, kind
    assert {kind for kind in all_subclasses(Statement) if kind.__module__ == statements.__name__} == {Query, *SESSION}


@pytest.mark.parametrize("family", get_args(Family))
def test_every_family_builds_explains_and_runs(family: Family) -> None:
    assert callable(builder(family))
    assert callable(runner(family))
    assert callable(explainer(family).lines)


VALUES: dict[str, Any] = {"table": Table("d", "t", "iceberg", ()), "name": "n", "key": "k", "value": "v"}


def test_every_change_of_the_catalog_has_a_text() -> None:
    from hivedruid.actions.ddl.model import RemoveTable

    values = {
        **VALUES, "before": VALUES["table"], "after": VALUES["table"], "delete_data": True, "columns": (), "rows": (), "rules": (),
        "version": 1, "tables": (RemoveTable(VALUES["table"], delete_data=True),), "details": NO_DETAILS,
        "function": UserFunction("d", "f", "module.f", "python", STRING),
    }  # fmt: skip
    kinds = [
        *alternatives("hivedruid.actions.ddl.model", "Action"),
        *alternatives("hivedruid.actions.utility.model", "Action"),
    ]
    assert len(kinds) >= 10
    for kind in kinds:
        needed = {name: values[name] for name in kind.__dataclass_fields__ if name in values}  # type: ignore[attr-defined]
        made = kind(**needed)
        assert explainer(family_of(made)).lines(made, {})[0] == "Stage-0"


def compared_names(tree: ast.AST) -> Iterator[int]:
    """The lines that compare the name of a class as a string, which no type checker verifies."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare | ast.Subscript | ast.Call):
            asked = node.slice if isinstance(node, ast.Subscript) else node
            parts = [asked] if isinstance(node, ast.Subscript) else list(ast.iter_child_nodes(asked))
            is_lookup = not isinstance(node, ast.Call) or (
                isinstance(node.func, ast.Attribute) and node.func.attr == "get"
            )
            for part in parts if is_lookup else ():
                if isinstance(part, ast.Attribute) and part.attr in ("__name__", "__qualname__"):
                    yield node.lineno


def test_no_class_is_told_by_its_name() -> None:
    root = Path(hivedruid.__file__).parent
    found = {
        f"{path.relative_to(root)}:{line}"
        for path in root.rglob("*.py")
        for line in compared_names(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == set()


@pytest.mark.parametrize(
    "text",
    [
        'type(x).__name__ == "A"',
        "TABLE[type(x).__name__]",
        "TABLE.get(type(x).__name__)",
        'type(x).__name__ in ("A", "B")',
    ],
)
def test_a_class_told_by_its_name_is_found(text: str) -> None:
    assert list(compared_names(ast.parse(text)))


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("SELECT count(*) FROM ev", "RunDruidQuery"),
        ("SELECT country, rank() OVER (ORDER BY count(*)) FROM ev GROUP BY country", "EvaluateLocally"),
        ("SELECT md5(country) FROM ev", "RunSparkJob"),
        (
            "INSERT INTO dim SELECT country, city, clicks FROM ev WHERE country IN (SELECT country FROM dim)",
            "WriteTable",
        ),
    ],
)
def test_every_native_query_of_an_action_can_be_changed(sql: str, kind: str) -> None:
    """Each has a field for the id of its statement, which `execute` sets."""
    (action,) = build(parse(SourceStatement(sql)), snapshot()).actions
    assert type(action).__name__ == kind
    seen: list[DruidRead] = []

    def marked(read: DruidRead) -> DruidRead:
        seen.append(read)
        return replace(read, query={**read.query, "context": {"queryId": "mine"}})

    changed = action.with_reads(marked)
    jobs = [job for job in (getattr(changed, "job", None),) if job is not None]
    reads = [*changed.reads, *(read for job in jobs for read in job.reads)]
    assert seen
    assert {read.query["context"]["queryId"] for read in reads} == {"mine"}
