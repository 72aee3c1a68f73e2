"""The retention rules of a table's data source: what CREATE, ALTER and DROP change at the coordinator. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from hivedruid.actions.ddl.model import ConfigureRetention
from hivedruid.actions.snapshot import Snapshot
from hivedruid.catalog.properties import RETENTION_RULES
from hivedruid.catalog.table import Table
from hivedruid.druid.retention import RULES_FORM, Rule, parse_rules, text
from hivedruid.engine.capabilities import Retention
from hivedruid.engine.kinds import EMBEDDED_STORE, session_kind
from hivedruid.errors import SemanticError, Span
from hivedruid.parser.statements.ddl import Property

NOT_HERE = f"{EMBEDDED_STORE.name} {EMBEDDED_STORE.lacks[Retention]}: {RETENTION_RULES} has no effect"


def check_rules(properties: Iterable[Property]) -> None:
    """Raises SemanticError, at the value, for rules that cannot be read."""
    for item in properties:
        problem = parse_rules(item.value) if item.key == RETENTION_RULES else ()
        if isinstance(problem, str):
            raise SemanticError(
                f"property '{item.key}' must be rules such as '{RULES_FORM}': {problem}", span=item.value_span
            )


def rules_of(table: Table | None) -> tuple[Rule, ...]:
    """The rules that a table sets; none without the property."""
    if table is None or not table.has_data_source:
        return ()
    found = parse_rules(table.properties[RETENTION_RULES]) if RETENTION_RULES in table.properties else ()
    assert not isinstance(found, str), "checked when it was set"
    return found


def changed(
    before: Table | None, after: Table | None, snapshot: Snapshot, span: Span | None = None
) -> tuple[ConfigureRetention, ...]:
    """The changes of the coordinator's rules; `before` is None for a new table, `after` for a dropped one.

    They run before the catalog changes, as those of automatic compaction. Rules that neither the table nor the
    statement has are never replaced: raises SemanticError at `span` if the statement sets others.
    """
    old, new = rules_of(before), rules_of(after)
    is_moved = before is not None and after is not None and before.data_source != after.data_source
    if old == new and not (is_moved and new):
        return ()
    if not session_kind(snapshot.settings).has(Retention):
        return (ConfigureRetention(after, new, is_possible=False),) if new and after is not None else ()
    found: list[ConfigureRetention] = []
    if before is not None and old and (is_moved or not new):
        there = _there(before, old, snapshot)
        found.append(ConfigureRetention(before, (), there if there != old else ()))
    if after is not None and new:
        there = _there(after, () if is_moved else old, snapshot)
        if there and there not in (new, () if is_moved else old):
            raise SemanticError(
                f"data source '{after.data_source}' has retention rules that {after.full_name} did not set:"
                f" {text(there)}",
                span=span,
                hint=f"to replace them, set {RETENTION_RULES} to '{text(there)}' first, and then to the new rules",
            )
        found.append(ConfigureRetention(after, new))
    return tuple(found)


def _there(table: Table, expected: tuple[Rule, ...], snapshot: Snapshot) -> tuple[Rule, ...]:
    """The rules of the data source at the coordinator; those that are expected if they are not known."""
    return expected if snapshot.retention is None else snapshot.retention.get(table.data_source, ())
