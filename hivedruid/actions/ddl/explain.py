"""EXPLAIN of catalog changes, in the shape of Hive's DDL operators."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, assert_never

from hivedruid.actions.ddl import model as c
from hivedruid.actions.ddl.retention import NOT_HERE
from hivedruid.actions.model import Action
from hivedruid.actions.operators import Explainer, Fields, document_of, lines_of
from hivedruid.actions.plan_text import indent, json_lines
from hivedruid.actions.utility.constraints import clause
from hivedruid.actions.utility.show import create_statement, quoted, table_type
from hivedruid.catalog.databases import DatabaseDetails
from hivedruid.catalog.functions import UserFunction
from hivedruid.catalog.kinds import HANDLERS
from hivedruid.catalog.table import Column, Table
from hivedruid.druid.compaction import config_path
from hivedruid.druid.retention import rules_path, text
from hivedruid.secrets import masked, masked_all


def _lines(action: Action, settings: Mapping[str, str]) -> list[str]:
    assert isinstance(action, c.DdlAction)
    return [*lines_of(*_describe(action)), *_whole_statement(action), *_supervisor(action, settings)]


def _document(action: Action, settings: Mapping[str, str]) -> dict[str, Any]:
    assert isinstance(action, c.DdlAction)
    document = document_of(*_describe(action))
    if isinstance(action, c.AddTable) and action.supervisor:
        document["statement"] = create_statement(action.table)
    spec = _supervisor_spec(action, settings)
    if spec is None:
        return document
    from hivedruid.druid.supervisor import extensions

    return {**document, "extensions": list(extensions(spec)), "supervisor": spec}


def _describe(action: c.DdlAction) -> tuple[str, Fields]:
    match action:
        case c.AddTable():
            return _add_table(action)
        case c.RemoveTable():
            return _remove_table(action)
        case c.ReplaceTable():
            return _replace_table(action)
        case c.ConfigureRetention():
            return "Retention Rules Operator", _retention(action)
        case c.EmptyTable():
            return _empty_table(action)
        case c.RemoveColdPart():
            return "Drop Cold Part Operator", [("name", action.table.full_name)]
        case c.AddDatabase():
            fields: Fields = [("database", action.name), ("comment", action.comment)]
            return "Create Database Operator", [*fields, *_details(action.details)]
        case c.ChangeDatabase():
            return "Alter Database Operator", [("database", action.name), *_details(action.details)]
        case c.RemoveDatabase():
            return _remove_database(action)
        case c.AddFunction(function):
            return "Create Function Operator", _function_fields(function)
        case c.RemoveFunction(function):
            return "Drop Function Operator", [("name", function.full_name)]
        case c.UseDatabaseAction():
            return "Switch Database Operator", [("database", action.name)]
        case _:
            assert_never(action)


def _function_fields(function: UserFunction) -> Fields:
    return [
        ("name", function.full_name),
        ("temporary", not function.database),
        ("language", function.language),
        ("code", function.code),
        ("files", ", ".join(function.resources)),
        ("call", function.described.partition(":")[0]),
        ("deterministic", function.is_deterministic),
    ]


def _details(details: DatabaseDetails) -> Fields:
    return [
        ("tables", "those of an Iceberg catalog" if details.uses_iceberg else ""),
        ("location", details.location),
        ("managed location", details.managed_location),
        ("owner", f"{details.owner_type} {details.owner}" if details.owner else ""),
        ("properties", masked_all(dict(sorted(details.properties.items())))),
    ]


def _table_fields(table: Table) -> Fields:
    return [
        ("columns", [f"{column.name} {column.type}" for column in table.columns]),
        ("comment", table.comment),
        ("table type", table_type(table)),
        ("hive metastore", table.metastore or None),
        ("iceberg catalog", _place(table)),
        ("storage handler", HANDLERS.get(table.kind)),
        ("format", table.format),
        ("location", None if table.is_temporary else table.location),
        ("temporary", table.is_temporary or None),
        ("partitioned by", [str(field) for field in table.partition_spec]),
        ("ordered by", [str(field) for field in table.sort_order]),
        ("constraints", [clause(each) for each in table.constraints]),
        ("serde properties", masked_all(dict(sorted(table.serde.items())))),
        ("properties", masked_all(dict(sorted(table.properties.items())))),
    ]


def _place(table: Table) -> str | None:
    """Where the Iceberg catalog of its database has the table."""
    return f"{table.iceberg.type} {'.'.join(table.iceberg.namespace)}" if table.iceberg else None


def _add_table(action: c.AddTable) -> tuple[str, Fields]:
    table = action.table
    if not table.is_view:
        return "Create Table Operator", [("name", table.full_name), *_table_fields(table)]
    columns = [f"{column.name} {column.type}" for column in table.columns]
    return "Create View Operator", [
        ("name", table.full_name),
        ("columns", columns),
        ("comment", table.comment),
        ("properties", masked_all(dict(sorted(table.properties.items())))),
        ("replace", action.replace or None),
        ("temporary", table.is_temporary or None),
        ("expanded text", table.view_text),
    ]


def _remove_table(action: c.RemoveTable) -> tuple[str, Fields]:
    table = action.table
    if table.is_view:
        return "Drop View Operator", [("name", table.full_name)]
    return "Drop Table Operator", [
        ("name", table.full_name),
        ("data source", table.data_source if table.has_data_source else None),
        ("delete data", action.delete_data),
        ("purge", action.purge or None),
        ("ingestion", [step.text for step in _steps(action)]),
        ("automatic compaction", f"DELETE {config_path(table.data_source)}" if action.compaction else None),
        ("retention rules", _kept_or_removed(action.retention) if action.retention else None),
    ]


def _retention(action: c.ConfigureRetention) -> Fields:
    table = action.table
    fields: Fields = [("name", table.full_name), ("data source", table.data_source)]
    if not action.is_possible:
        return [*fields, ("effect", NOT_HERE)]
    if not action.rules:
        return [*fields, ("effect", _kept_or_removed(action))]
    rules = [json.dumps(rule.json) for rule in action.rules]
    return [*fields, ("request", f"POST {rules_path(table.data_source)}"), ("rules", rules)]


def _kept_or_removed(action: c.ConfigureRetention) -> str:
    if action.others:
        return f"none: others have set {text(action.others)}"
    return f"POST {rules_path(action.table.data_source)} []"


def _steps(action: c.RemoveTable) -> tuple[Any, ...]:
    return action.ingestion.change.steps if action.ingestion else ()


def _replace_table(action: c.ReplaceTable) -> tuple[str, Fields]:
    before, after = action.before, action.after
    fields: Fields = [("name", before.full_name)]
    if after.full_name != before.full_name:
        fields.append(("new name", after.full_name))
    if after.columns != before.columns:
        is_longer = after.columns[: len(before.columns)] == before.columns
        new = [column for column in after.columns if not is_longer or column not in before.columns]
        fields.append(("new columns" if is_longer else "columns", [_column(column) for column in new]))
    if after.partition_spec != before.partition_spec:
        fields.append(("partitioned by", [str(field) for field in after.partition_spec]))
    fields += [
        ("new constraints", [clause(each) for each in after.constraints if each not in before.constraints]),
        ("removed constraints", [each.name for each in before.constraints if each not in after.constraints]),
    ]
    fields += [
        (name, now) for name, now, former in (
            ("location", after.location, before.location),
            ("format", after.format, before.format),
            ("serde properties", masked_all(dict(sorted(after.serde.items()))), masked_all(dict(before.serde))),
        ) if now != former
    ]  # fmt: skip
    if after.comment != before.comment:
        fields.append(("comment", after.comment or "(none)"))
    changed = {
        key: masked(key, value)
        for key, value in sorted(after.properties.items())
        if before.properties.get(key) != value
    }
    gone = sorted(set(before.properties) - set(after.properties))
    return "Alter Table Operator", [*fields, ("set properties", changed), ("unset properties", gone)]


def _column(column: Column) -> str:
    return f"{column.name} {column.type}" + (f" COMMENT {quoted(column.comment)}" if column.comment else "")


def _empty_table(action: c.EmptyTable) -> tuple[str, Fields]:
    table = action.table
    data_source = table.data_source if table.has_data_source else None
    return "Truncate Table Operator", [
        ("name", table.full_name),
        ("data source", data_source),
        ("purge", action.purge or None),
    ]


def _remove_database(action: c.RemoveDatabase) -> tuple[str, Fields]:
    return "Drop Database Operator", [
        ("database", action.name),
        (
            "tables",
            {removal.table.name: f"delete data: {str(removal.delete_data).lower()}" for removal in action.tables},
        ),
    ]


def _whole_statement(action: c.DdlAction) -> list[str]:
    """The statement that CREATE TABLE … FROM SUPERVISOR stands for."""
    if not isinstance(action, c.AddTable) or not action.supervisor:
        return []
    lines = create_statement(action.table).split("\n")
    return indent([f"statement, from the spec of supervisor {action.supervisor}:", *indent(lines, 2)], 4)


def _supervisor(action: c.DdlAction, settings: Mapping[str, str]) -> list[str]:
    """The Kafka supervisor spec of a Druid table with a topic."""
    spec = _supervisor_spec(action, settings)
    if spec is None:
        return []
    from hivedruid.druid.supervisor import extensions

    needed = f"extensions of Druid: {', '.join(extensions(spec))}"
    return indent([needed, *json_lines("kafka supervisor (submitted by START): ", spec)], 4)


def _supervisor_spec(action: c.DdlAction, settings: Mapping[str, str]) -> dict[str, Any] | None:
    from hivedruid.catalog.properties import has_ingestion
    from hivedruid.druid.supervisor import supervisor_spec

    table = (
        action.table if isinstance(action, c.AddTable) else action.after if isinstance(action, c.ReplaceTable) else None
    )
    if table is None or not table.has_data_source or not has_ingestion(table.properties):
        return None
    return supervisor_spec(table, settings)


EXPLAINER = Explainer(_lines, _document)
