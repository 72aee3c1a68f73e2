"""The description of a materialized view, in addition to that of its table."""

from __future__ import annotations

from hivedruid.actions.snapshot import Snapshot
from hivedruid.catalog.materialized_views import Built, ViewFacts
from hivedruid.catalog.table import Table


def facts_of(table: Table, snapshot: Snapshot) -> ViewFacts:
    """The facts of a view; without any, it counts as never built."""
    for facts in snapshot.materialized_views:
        if facts.table.full_name == table.full_name:
            return facts
    return ViewFacts(table, Built(()))


def stale(facts: ViewFacts) -> str:
    """`No`, or `Yes` and the reason."""
    found = facts.staleness
    return f"Yes: {found}" if found else "No"


def described(table: Table, snapshot: Snapshot) -> list[tuple[str, str, str]]:
    """The rows that DESCRIBE FORMATTED adds for a materialized view."""
    facts = facts_of(table, snapshot)
    return [
        ("# Materialized View Information", "", ""),
        ("Expanded Query:", table.view_text or "", ""),
        ("Rewrite Enabled:", yes_no(table.rewrite_enabled), ""),
        ("Outdated for Rewriting:", stale(facts), ""),
        ("Built at:", facts.built.at or "never", ""),
        ("Source tables:", ", ".join(facts.built.tables), ""),
    ]


def yes_no(value: bool) -> str:
    return "Yes" if value else "No"
