"""The state of the sources from which materialized views were built, stored with the catalog's tables.

A view can replace its query only while every source is in the state at the time of the build, and the view's own data
is unchanged since. Any interruption, such as a crash or another writer, makes the view stale, never wrong.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field, replace
from datetime import datetime
from typing import Any

from hivedruid.catalog.store import Catalog, from_json
from hivedruid.catalog.table import Table
from hivedruid.lazy_dataclass import dataclass
from hivedruid.setting_types import span_seconds

REWRITING = "hive.materializedview.rewriting"
TIME_WINDOW = "hive.materializedview.rewriting.time.window"
TABLE_TIME_WINDOW = "rewriting.time.window"
"""Hive's names: the settings, and the table property that takes precedence over the setting."""

Span = tuple[int, int, str]


@dataclass(frozen=True)
class SourceState:
    """The current state of a table: its definition, and its data as segments (start, end, id) or as one string that
    changes with it.

    `unknown` is the reason why two such states cannot be compared.
    """

    definition: str
    segments: tuple[Span, ...] | None = None
    token: str = ""
    growing: tuple[tuple[int, int], ...] = ()
    unknown: str = ""

    def is_same(self, other: SourceState | None) -> bool:
        return self == other and not self.unknown and not self.growing


@dataclass(frozen=True)
class Built:
    """A build of a view: `sources` by name (None if it is not relevant), its `own` data, and the settings of its query.

    `tables` are the names of all sources, including plain views. `at` is the time, ISO 8601 in UTC. `root` is the table
    of the query whose every row is in the view exactly once, None if that was not checked or is not true. `unfit` is
    the reason why the view can never be used for other queries.
    """

    tables: tuple[str, ...]
    sources: Mapping[str, SourceState] | None = None
    own: SourceState | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    at: str = ""
    rows: int | None = None
    root: int | None = None
    unfit: str = ""


@dataclass(frozen=True)
class ViewFacts:
    """A materialized view, its last build, and the current state of its sources and its own data (empty if they were
    not read).
    """

    table: Table
    built: Built
    sources: Mapping[str, SourceState] = field(default_factory=dict)
    own: SourceState | None = None
    problem: str = ""
    """Why its state could not be read."""

    @property
    def staleness(self) -> str:
        """Why its rows are out of date; empty if they are current."""
        built = self.built
        if built.sources is None:
            return "its last build did not complete"
        if self.problem:
            return self.problem
        for name in built.tables:
            now, then = self.sources.get(name), built.sources.get(name)
            if now is None:
                return f"{name} no longer exists"
            if now.unknown:
                return f"{name} {now.unknown}"
            if now.growing:
                return f"rows are being added to {name}"
            if then is None or not now.is_same(then):
                same = then is not None and now.definition == then.definition
                return f"{name} has changed" if same else f"the definition of {name} has changed"
        if self.own is None or not self.own.is_same(built.own):
            return "its rows were changed outside REBUILD"
        return ""


def is_within_window(facts: ViewFacts, settings: Mapping[str, str], now: datetime) -> bool:
    """Whether a stale view may still be used, because it was built recently (Hive.isOutdatedMaterializedView)."""
    if facts.built.sources is None or facts.built.own is None or facts.own is None or facts.problem:
        return False
    if not facts.own.is_same(facts.built.own):
        return False
    if any(
        facts.sources.get(name) is None or facts.sources[name].definition != state.definition
        for name, state in facts.built.sources.items()
    ):
        return False
    window = span_seconds(facts.table.properties.get(TABLE_TIME_WINDOW) or settings.get(TIME_WINDOW) or "0min")
    if window < 0:
        return True
    return (now - datetime.fromisoformat(facts.built.at)).total_seconds() < window


# --- the catalog -----------------------------------------------------------------------------------------------


def all_views(catalog: Catalog) -> list[tuple[Table, Built]]:
    """Every materialized view of the home, by name."""
    rows = catalog.connection.execute(
        "SELECT t.table_id, t.database, t.name, t.definition, m.built FROM materialized_views m"
        " JOIN tables t ON t.table_id = m.table_id ORDER BY t.database, t.name"
    )
    return [(from_json(*row[:4]), _from_text(row[4])) for row in rows]


def find_built(catalog: Catalog, table: Table) -> Built | None:
    row = catalog.connection.execute(
        "SELECT built FROM materialized_views WHERE table_id = ?", (table.table_id,)
    ).fetchone()
    return _from_text(row[0]) if row else None


def save(catalog: Catalog, table: Table, built: Built) -> None:
    with catalog.transaction() as connection:
        connection.execute(
            "INSERT INTO materialized_views (table_id, built) VALUES (?, ?)"
            " ON CONFLICT (table_id) DO UPDATE SET built = excluded.built",
            (table.table_id, _to_text(built)),
        )


def invalidate(catalog: Catalog, table: Table) -> None:
    """Mark the view as not built, until the next build is saved."""
    built = find_built(catalog, table)
    if built is not None and built.sources is not None:
        save(catalog, table, replace(built, sources=None, own=None, root=None))


def _to_text(built: Built) -> str:
    value: dict[str, Any] = {"tables": built.tables, "settings": dict(built.settings), "at": built.at}
    if built.unfit:
        value["unfit"] = built.unfit
    if built.sources is not None:
        value["sources"] = {name: _state_json(state) for name, state in built.sources.items()}
    if built.own is not None:
        value["own"] = _state_json(built.own)
    value |= {key: number for key, number in (("rows", built.rows), ("root", built.root)) if number is not None}
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _from_text(text: str) -> Built:
    value = json.loads(text)
    sources = value.get("sources")
    return Built(
        tuple(value["tables"]),
        None if sources is None else {name: _state(state) for name, state in sources.items()},
        _state(value["own"]) if "own" in value else None,
        value["settings"],
        value["at"],
        value.get("rows"),
        value.get("root"),
        value.get("unfit", ""),
    )


def _state_json(state: SourceState) -> dict[str, Any]:
    value: dict[str, Any] = {"definition": state.definition}
    if state.segments is not None:
        value["segments"] = state.segments
    optional = {"token": state.token, "growing": state.growing, "unknown": state.unknown}
    return value | {key: item for key, item in optional.items() if item}


def _state(value: Mapping[str, Any]) -> SourceState:
    segments = value.get("segments")
    return SourceState(
        value["definition"],
        None if segments is None else tuple((start, end, name) for start, end, name in segments),
        value.get("token", ""),
        tuple((start, end) for start, end in value.get("growing", ())),
        value.get("unknown", ""),
    )
