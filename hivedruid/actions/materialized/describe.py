"""What is said of a materialized view besides what is said of its table."""

from __future__ import annotations

from hivedruid.actions.snapshot import Snapshot
from hivedruid.catalog.materialized_views import Built, ViewFacts
from hivedruid.catalog.table import Table


def facts_of(table: Table, snapshot: Snapshot) -> ViewFacts:
    """What is known of a view; of one that nothing is known of, that it was never built."""
    for facts in snapshot.materialized_views:
        if facts.table.full_name == table.full_name:
            return facts
    return ViewFacts(table, Built(()))


def stale(facts: ViewFacts) -> str:
    """`No`, or `Yes` and the reason."""
    found = facts.staleness
    return f"Yes: {found}" if found else "No"


def described(table: Table, snapshot: Snapshot) -> list[tuple[str, str, str]]:
    """What DESCRIBE FORMATTED says of a materialized view besides its table."""
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
