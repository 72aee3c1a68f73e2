"""EXPLAIN's text for catalog changes, in the shape of Hive's DDL operators."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hivedruid.actions import changes as c
from hivedruid.actions.model import Action
from hivedruid.actions.show import HANDLERS, table_type
from hivedruid.catalog.table import Table
from hivedruid.druid.compaction import config_path
from hivedruid.errors import PlanError
from hivedruid.secrets import masked, masked_all

Fields = list[tuple[str, Any]]


def lines(action: Action) -> list[str]:
    """The lines of one action: `Stage-0`, the operator, and what it will do, indented. Secrets are shown as stars."""
    operator, fields = _described(action)
    return ["Stage-0", f"  {operator}:", *_indented(fields, 4)]


def document(action: Action) -> dict[str, Any]:
    """The same as one JSON value, for EXPLAIN FORMATTED."""
    operator, fields = _described(action)
    return {"operator": operator, **{key: _plain(value) for key, value in fields if _present(value)}}


def _described(action: Action) -> tuple[str, Fields]:
    if type(action).__name__ in ("Watch", "ShutDownTask"):
        from hivedruid.actions import watch

        return watch.describe(action)
    if type(action).__name__ in ("CompactSegments", "ConfigureCompaction", "ListCompactions", "ListSegments"):
        from hivedruid.actions import compaction

        return compaction.describe(action)
    if type(action).__name__ == "CheckIngestion":
        from hivedruid.actions import check_ingestion

        return check_ingestion.describe(action)  # type: ignore[arg-type]
    if type(action).__name__ == "ComputeStatistics":
        from hivedruid.actions import analyze

        return analyze.describe(action)  # type: ignore[arg-type]
    if type(action).__name__ in ("ContinueJob", "CancelJob", "LeaveTarget"):
        from hivedruid.actions import jobs

        return jobs.describe(action)
    describer = _DESCRIBERS.get(type(action))
    if describer is None:
        raise PlanError(f"no EXPLAIN text for {type(action).__name__}")
    return describer(action)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, list | tuple) else value


def _present(value: Any) -> bool:
    return value is not None and value != "" and value not in ({}, [], ())


def _indented(fields: Iterable[tuple[str, Any]], depth: int) -> list[str]:
    result: list[str] = []
    blank = " " * depth
    for key, value in fields:
        if not _present(value):
            continue
        if isinstance(value, Mapping):
            result.append(f"{blank}{key}:")
            result += [f"{blank}  {name} {_one_line(_text(item))}" for name, item in value.items()]
        elif isinstance(value, bool):
            result.append(f"{blank}{key}: {str(value).lower()}")
        else:
            text = ", ".join(value) if isinstance(value, list | tuple) else str(value)
            result.append(f"{blank}{key}: {_one_line(text)}")
    return result


def _text(value: Any) -> str:
    """Parts of a request are shown as they are sent."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _one_line(text: str) -> str:
    return (
        text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r") if "\n" in text or "\r" in text else text
    )


def _table_fields(table: Table) -> Fields:
    return [
        ("columns", [f"{column.name} {column.type}" for column in table.columns]),
        ("comment", table.comment),
        ("table type", table_type(table)),
        ("storage handler", HANDLERS.get(table.kind)),
        ("format", table.format),
        ("location", table.location),
        ("serde properties", masked_all(dict(sorted(table.serde.items())))),
        ("properties", masked_all(dict(sorted(table.properties.items())))),
    ]


def _add_table(action: c.AddTable) -> tuple[str, Fields]:
    table = action.table
    if table.kind != "view":
        return "Create Table Operator", [("name", table.full_name), *_table_fields(table)]
    columns = [f"{column.name} {column.type}" for column in table.columns]
    return "Create View Operator", [
        ("name", table.full_name),
        ("columns", columns),
        ("comment", table.comment),
        ("properties", masked_all(dict(sorted(table.properties.items())))),
        ("replace", action.replace or None),
        ("expanded text", table.view_text),
    ]


def _remove_table(action: c.RemoveTable) -> tuple[str, Fields]:
    table = action.table
    if table.kind == "view":
        return "Drop View Operator", [("name", table.full_name)]
    return "Drop Table Operator", [
        ("name", table.full_name),
        ("data source", table.data_source if table.kind == "druid" else None),
        ("delete data", action.delete_data),
        ("for good", action.purge or None),
        ("ingestion", [step.text for step in _steps(action)]),
        ("automatic compaction", f"DELETE {config_path(table.data_source)}" if action.compaction else None),
    ]


def _steps(action: c.RemoveTable) -> tuple[Any, ...]:
    return action.ingestion.change.steps if action.ingestion else ()


def _replace_table(action: c.ReplaceTable) -> tuple[str, Fields]:
    before, after = action.before, action.after
    fields: Fields = [("name", before.full_name)]
    if after.full_name != before.full_name:
        fields.append(("new name", after.full_name))
    if after.columns != before.columns:
        new = [column for column in after.columns if column not in before.columns]
        fields.append(("new columns", [f"{column.name} {column.type}" for column in new]))
    if after.comment != before.comment:
        fields.append(("comment", after.comment or "(none)"))
    changed = {
        key: masked(key, value)
        for key, value in sorted(after.properties.items())
        if before.properties.get(key) != value
    }
    gone = sorted(set(before.properties) - set(after.properties))
    return "Alter Table Operator", [*fields, ("set properties", changed), ("unset properties", gone)]


def _empty_table(action: c.EmptyTable) -> tuple[str, Fields]:
    table = action.table
    data_source = table.data_source if table.kind == "druid" else None
    return "Truncate Table Operator", [
        ("name", table.full_name),
        ("data source", data_source),
        ("for good", action.purge or None),
    ]


def _remove_database(action: c.RemoveDatabase) -> tuple[str, Fields]:
    return "Drop Database Operator", [
        ("database", action.name),
        (
            "tables",
            {removal.table.name: f"delete data: {str(removal.delete_data).lower()}" for removal in action.tables},
        ),
    ]


def _show(action: c.Show) -> tuple[str, Fields]:
    return "Fetch Operator", [("columns", [column.name for column in action.columns]), ("rows", str(len(action.rows)))]


_DESCRIBERS: dict[type[Action], Callable[[Any], tuple[str, Fields]]] = {
    c.AddTable: _add_table,
    c.RemoveTable: _remove_table,
    c.ReplaceTable: _replace_table,
    c.EmptyTable: _empty_table,
    c.AddDatabase: lambda a: ("Create Database Operator", [("database", a.name), ("comment", a.comment)]),
    c.RemoveDatabase: _remove_database,
    c.UseDatabaseAction: lambda a: ("Switch Database Operator", [("database", a.name)]),
    c.ChangeSetting: lambda a: (
        "Set Setting Operator",
        [("key", a.key), ("value", masked(a.key, a.value) or "(empty)")],
    ),
    c.ResetSetting: lambda a: ("Reset Settings Operator", [("key", a.key or "(all)")]),
    c.Show: _show,
    c.ForgetSpecs: lambda a: ("Rollback Ingestion Operator", [("name", a.table.full_name)]),
}
