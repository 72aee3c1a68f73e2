"""The queries of Calcite's and Hive's own tests, read from a folder of case files, with the results of these peers.

A folder has `calcite/*.json` ({"cases": […]} beside `datasets.json`) and `hive/*.json` (lists of statements). Nothing
here depends on which cases exist or how many.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from hivedruid.catalog.table import Table
from tests.conformance.dialect import TranslationError, hive_sql
from tests.conformance.schemas import dataset_table, declared_tables

VARIABLE = "HIVEDRUID_CASES"
"""The environment variable with the folder for the tests in `peers`."""

HIVES_ZONE = "US/Pacific"
"""The time zone of Hive's tests."""

Check = Literal["ordered", "unordered", "ordered-prefix"]


@dataclass(frozen=True)
class Peer:
    """The plan of Calcite or Hive: whether it pushed the query down fully, its native queries, and the operators
    outside Druid.
    """

    name: Literal["calcite", "hive"]
    is_full: bool
    queries: tuple[Mapping[str, Any], ...] = ()
    outside: tuple[str, ...] = ()


@dataclass(frozen=True)
class Expected:
    """The rows that the peer's test expects, cells as strings; `check` is the kind of comparison. `count`: only their
    number.
    """

    rows: tuple[tuple[str | None, ...], ...] | None = None
    check: Check | None = None
    count: int | None = None


@dataclass(frozen=True)
class Case:
    """One query. `untranslatable`: the reason why its SQL cannot be translated into Hive's dialect. `refusal`: the
    peer's own error.
    """

    id: str
    file: str
    sql: str
    zone: str
    tables: tuple[Table, ...]
    peer: Peer
    expected: Expected = Expected()
    untranslatable: str | None = None
    refusal: str | None = None

    @property
    def key(self) -> str:
        """Equal for the same query over the same tables, wherever it is listed."""
        columns = [f"{t.name}({', '.join(f'{c.name} {c.type}' for c in t.columns)})" for t in self.tables]
        return hashlib.sha256("\n".join([self.zone, self.sql, *columns]).encode()).hexdigest()[:10]


def folder() -> Path:
    """The folder in the variable. Raises KeyError or NotADirectoryError."""
    root = Path(os.environ[VARIABLE]).expanduser().absolute()
    if not root.is_dir():
        raise NotADirectoryError(root)
    return root


def read(root: Path) -> list[Case]:
    """All cases of the folder."""
    return [*_calcite(root), *_hive(root)]


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


# --- Calcite ---------------------------------------------------------------------------------------------------------


def _calcite(root: Path) -> Iterator[Case]:
    datasets: dict[str, Any] = {}
    lists: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(root.glob("calcite/*.json")):
        content = read_json(path)
        if isinstance(content, dict) and isinstance(content.get("cases"), list):
            lists[path.stem] = [case for case in content["cases"] if "timestamp_type" in case]
        elif isinstance(content, dict) and any(isinstance(v, dict) and "columns" in v for v in content.values()):
            datasets |= content
    for stem, cases in lists.items():
        for case in cases:
            yield _calcite_case(f"calcite/{stem}", case, datasets)


def _calcite_case(file: str, case: Mapping[str, Any], datasets: Mapping[str, Any]) -> Case:
    time_type = case["timestamp_type"]
    tables = tuple(_datasets_of(case["dataset"], time_type, datasets))
    peer = Peer(
        "calcite", bool(case["fully_pushed"]), tuple(case.get("calcite_native") or ()), tuple(case.get("calcite_outside") or ())
    )  # fmt: skip
    zone = (case.get("connection") or {}).get("TIME_ZONE") or "UTC"
    refusal = (case.get("expected_error") or {}).get("contains")
    sql, reason = case["sql"] or "", None
    try:
        sql = hive_sql(case["sql"])
    except TranslationError as error:
        reason = str(error)
    return Case(case["id"], file, sql, zone, tables, peer, _calcite_rows(case), reason, refusal)


def _datasets_of(dataset: str, time_type: str, datasets: Mapping[str, Any]) -> Iterator[Table]:
    """The tables of a data set; several models may describe one table, each with some of its columns."""
    models: dict[str, list[Mapping[str, Any]]] = {}
    for name, model in datasets.items():
        if dataset in name and isinstance(model, dict) and "columns" in model:
            models.setdefault(model["table"], []).append(model)
    for described in models.values():
        yield dataset_table(described, time_type)


def _calcite_rows(case: Mapping[str, Any]) -> Expected:
    parsed = case.get("expected_rows_parsed")
    rows = None if parsed is None else tuple(tuple(row.values()) for row in parsed)
    check = case.get("row_check")
    if rows is not None and case.get("row_limit") is not None and len(rows) >= case["row_limit"]:
        check = "ordered-prefix" if check == "ordered" else check
    return Expected(rows, check, case.get("row_count"))


# --- Hive ------------------------------------------------------------------------------------------------------------


def _hive(root: Path) -> Iterator[Case]:
    for path in sorted(root.glob("hive/*.json")):
        content = read_json(path)
        if not isinstance(content, list):
            continue
        created = tuple(case["sql"] for case in content if case.get("kind") == "ddl" and "sql" in case)
        for number, case in enumerate(content):
            if case.get("kind") in ("explain", "run") and _is_query(case["sql"]):
                made = _hive_case(f"hive/{path.stem}", number, case, created)
                if any(table.kind == "druid" for table in made.tables):
                    yield made


def _is_query(sql: str) -> bool:
    return sql.split(None, 1)[0].upper() in ("SELECT", "WITH", "FROM")


def _hive_case(file: str, number: int, case: Mapping[str, Any], created: tuple[str, ...]) -> Case:
    zone = case.get("settings", {}).get("hive.local.time.zone", HIVES_ZONE)
    queries = tuple(scan["druid_query_json"] for scan in case.get("druid_scans") or () if scan.get("druid_query_json"))
    peer = Peer("hive", case.get("pushdown") == "full", queries, tuple(case.get("residual_operators") or ()))
    rows = case.get("result_rows")
    expected = Expected(
        None if rows is None else tuple(tuple(row) for row in rows), None if rows is None else "unordered"
    )
    tables = declared_tables(tuple(case.get("tables") or ()), case.get("table_schemas") or {}, created)
    return Case(f"{Path(file).name}#{case.get('index', number)}", file, case["sql"], zone, tables, peer, expected)
