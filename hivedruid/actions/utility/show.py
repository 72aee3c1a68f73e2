"""DESCRIBE and SHOW: results from the snapshot, in Hive's layout. Secrets are shown as stars."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.utility.constraints import information, of_column, of_table
from hivedruid.actions.utility.model import Show
from hivedruid.catalog.databases import NO_DETAILS
from hivedruid.catalog.druid_columns import paths_of
from hivedruid.catalog.functions import UserFunction
from hivedruid.catalog.kinds import HANDLERS
from hivedruid.catalog.stored_types import Schema
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import STRING
from hivedruid.errors import CatalogStateError, SemanticError, did_you_mean
from hivedruid.parser.statements import TableName
from hivedruid.parser.statements import utility as u
from hivedruid.results import ResultColumn
from hivedruid.secrets import masked, masked_all
from hivedruid.tables.druid_tables import DISCOVERED_COMMENT
from hivedruid.tables.hive_tables import KAFKA_COLUMNS, declared_format

Row = tuple[str, ...]


def _table(name: TableName, snapshot: Snapshot) -> Table:
    from hivedruid.actions.lookup import find_table

    return find_table(name, snapshot)


def _show(columns: Iterable[str], rows: Iterable[Row], *, is_text: bool = False, query: str | None = "") -> Show:
    return Show(tuple(ResultColumn(name, STRING) for name in columns), tuple(rows), is_text, query or "")


def lines(texts: Iterable[str]) -> Show:
    return _show(("resource",), [(text,) for text in texts], is_text=True)


def settings(statement: u.SetSetting, snapshot: Snapshot) -> Show:
    """SET, SET -v and SET key, as lines of `key=value`."""
    from hivedruid.settings import OWN_PREFIXES, listing, shown

    if statement.key is None:
        lines = [f"{key}={value}" for key, value in listing(snapshot.settings, verbose=statement.verbose)]
        lines += [f"hivevar:{key}={masked(key, value)}" for key, value in sorted(snapshot.variables.items())]
        return _show(("set",), [(line,) for line in lines], is_text=True)
    key = statement.key.removeprefix("hiveconf:")
    values, name = (snapshot.variables, key[8:]) if key.startswith("hivevar:") else (snapshot.settings, key)
    if name in values:
        line = f"{key}={shown(name, values[name]) if values is snapshot.settings else masked(name, values[name])}"
    elif key.startswith(OWN_PREFIXES):
        hint = did_you_mean(key, values)
        raise SemanticError(
            f"unknown setting '{key}'", span=statement.span, hint=hint or "run SET -v to list all settings"
        )
    else:
        line = f"{key} is undefined"
    return _show(("set",), [(line,)], is_text=True)


def nothing(columns: Iterable[str]) -> Show:
    return _show(columns, [])


def show_conf(statement: u.ShowConf) -> Show:
    """Raises SemanticError for a setting that neither hivedruid nor Hive has."""
    from hivedruid.hive_settings import hive_names, note_of
    from hivedruid.settings import SETTINGS

    names, key = ("default", "type", "desc"), statement.key
    if (setting := SETTINGS.get(key)) is not None:
        type_ = {"bool": "BOOLEAN", "int": "INT"}.get(setting.type, "STRING")
        return _show(names, [(masked(key, setting.default), type_, setting.doc)])
    if key in hive_names():
        return _show(names, [("", "STRING", note_of(key, "") or "")])
    hint = did_you_mean(key, (*SETTINGS, *hive_names())) or "run SET -v to list all settings"
    raise SemanticError(f"invalid configuration name {key}", span=statement.span, hint=hint)


def describe_table(statement: u.DescribeTable, snapshot: Snapshot) -> Show:
    table = _table(statement.name, snapshot)
    names = ("col_name", "data_type", "comment")
    columns = [(c.name, str(c.type), _comment(table, c)) for c in table.columns]
    if statement.column is not None:
        matches = [row for row in columns if row[0] == statement.column]
        if not matches:
            known = [column.name for column in table.columns]
            raise SemanticError(
                f"column '{statement.column}' not found in {table.full_name}",
                span=statement.column_span,
                hint=did_you_mean(statement.column, known),
            )
        return _show(names, matches)
    partitions = partition_information(table)
    if statement.mode == "plain":
        return _show(names, [*columns, *partitions])
    if statement.mode == "extended":
        detail = ("Detailed Table Information", _detail(table), "")
        mixed = _mixed_types(table, snapshot)
        extended = [*columns, *partitions, *mixed, *_paths(table), ("", "", ""), detail, *_runtime(table, snapshot)]
        return _show(names, extended, query=table.view_text)
    header = ("# col_name", "data_type", "comment")
    return _show(
        names,
        [
            header,
            *columns[: len(table.stored_columns)],
            *(partitions if table.has_partitions else ()),
            ("", "", ""),
            *_mixed_types(table, snapshot),
            *_paths(table),
            *_transforms(table),
            *_formatted(table),
            *information(table),
            *_materialized(table, snapshot),
            *_other_rules(table, snapshot),
            *_runtime(table, snapshot),
        ],
        query=table.view_text,
    )


def partition_information(table: Table) -> list[Row]:
    """The partition columns, as Hive shows them; none without partitions."""
    if not table.partition_columns:
        return []
    heading = [("", "", ""), ("# Partition Information", "", ""), ("# col_name", "data_type", "comment")]
    return [*heading, *((c.name, str(c.type), c.comment) for c in table.partition_columns)]


def _transforms(table: Table) -> list[Row]:
    """The partition spec, as Hive shows that of an Iceberg table."""
    if not table.partition_spec or table.has_partitions:
        return []
    heading: list[Row] = [("# Partition Transform Information", "", ""), ("# col_name", "transform_type", "")]
    transforms = [
        (f.column, f.transform.upper() + (f"[{f.number}]" if f.number else ""), "") for f in table.partition_spec
    ]
    return [*heading, *transforms, ("", "", "")]


def _paths(table: Table) -> list[Row]:
    """The columns that are values in nested data."""
    paths = paths_of(table.properties) if table.has_data_source else {}
    heading: list[Row] = [("", "", ""), ("# Paths in Nested Data", "", ""), ("# col_name", "path", "")]
    return [*heading, *((name, str(path), "") for name, path in paths.items())] if paths else []


def _mixed_types(table: Table, snapshot: Snapshot) -> list[Row]:
    """The columns whose Druid type differs between segments, with the number of segments of each type."""
    schema = snapshot.discovered.get(table.data_source) if table.has_data_source else None
    if not isinstance(schema, Schema) or not schema.differing:
        return []
    names = {column.field_name.lower(): column.name for column in table.columns}
    heading: list[Row] = [("", "", ""), ("# Types of Segments", "", ""), ("# col_name", "segments", "")]
    return [
        *heading,
        *((names.get(name.lower(), name), _count(types), "") for name, types in schema.differing.items()),
    ]


def _count(types: Mapping[str, int]) -> str:
    return ", ".join(
        f"{type_} in {number} segment{'s' if number > 1 else ''}" for type_, number in sorted(types.items())
    )


def _materialized(table: Table, snapshot: Snapshot) -> list[tuple[str, str, str]]:
    if not table.is_materialized:
        return []
    from hivedruid.actions.materialized.describe import described

    return [("", "", ""), *described(table, snapshot)]


def _other_rules(table: Table, snapshot: Snapshot) -> list[Row]:
    """The retention rules of the data source at the coordinator, if they are not those that the table has set."""
    if snapshot.retention is None or not table.has_data_source:
        return []
    from hivedruid.actions.ddl.retention import rules_of
    from hivedruid.druid.retention import text

    there = snapshot.retention.get(table.data_source, ())
    if there == rules_of(table):
        return []
    return [("", "", ""), ("# Retention Rules in Druid", "", ""), ("Rules:", text(there) or "none of its own", "")]


def _runtime(table: Table, snapshot: Snapshot) -> list[tuple[str, str, str]]:
    """The state of a table's ingestion or topic, if it was read."""
    if (topic := snapshot.described_topics.get((table.database, table.name))) is not None:
        from hivedruid.actions.watching.topics import rows as topic_rows

        return topic_rows(topic)
    known = snapshot.ingestions.get((table.database, table.name))
    if known is None and snapshot.unreachable is None:
        return []
    from hivedruid.actions.ingesting.describe import rows

    return rows(table, known, snapshot.unreachable)


def _comment(table: Table, column: Column) -> str:
    """Columns of a storage handler's table come from its SerDe, which Hive shows in place of a missing comment."""
    return column.comment or (DISCOVERED_COMMENT if table.kind in HANDLERS else "")


def parameters(table: Table) -> dict[str, str]:
    """The table's properties as Hive lists them: sorted, including Hive's internal ones, with secrets masked."""
    own = {"EXTERNAL": "TRUE"} if table.external else {}
    if table.comment:
        own["comment"] = table.comment
    if table.kind in HANDLERS:
        own["storage_handler"] = HANDLERS[table.kind]
    return dict(sorted(masked_all({**own, **table.properties}).items()))


def table_type(table: Table) -> str:
    if table.is_view:
        return "VIRTUAL_VIEW"
    if table.is_materialized:
        return "MATERIALIZED_VIEW"
    return "EXTERNAL_TABLE" if table.external else "MANAGED_TABLE"


def _detail(table: Table) -> str:
    """One line, like the metastore's Table object that Hive prints."""
    parts = [f"tableName:{table.name}", f"dbName:{table.database}", f"tableType:{table_type(table)}"]
    if table.location:
        parts.append(f"location:{table.location}")
    if table.format:
        parts.append(f"format:{table.format}")
    if table.view_text:
        parts.append(f"viewExpandedText:{table.view_text}")
    listed = ", ".join(f"{key}={value}" for key, value in parameters(table).items())
    parts.append(f"parameters:{{{listed}}}")
    return f"Table({', '.join(parts)})"


def _formatted(table: Table) -> list[Row]:
    rows: list[Row] = [
        ("# Detailed Table Information", "", ""),
        ("Database:", table.database, ""),
        ("Table Type:", table_type(table), ""),
    ]
    if table.iceberg is not None:
        rows.append(("Iceberg Catalog:", f"{table.iceberg.type} {'.'.join(table.iceberg.namespace)}", ""))
    if table.location:
        rows.append(("Location:", table.location, ""))
    if listed := parameters(table):
        rows.append(("Table Parameters:", "", ""))
        rows += [("", key, value) for key, value in listed.items()]
    rows.append(("", "", ""))
    if table.is_view:
        return [*rows, ("# View Information", "", ""), ("Expanded Query:", table.view_text or "", "")]
    rows.append(("# Storage Information", "", ""))
    if table.sort_order:
        rows.append(("Sort Order:", ", ".join(map(str, table.sort_order)), ""))
    serde = masked_all(table.serde)
    library = serde.pop("serialization.lib", "")
    if library:
        rows.append(("SerDe Library:", library, ""))
    if table.kind in HANDLERS:
        rows.append(("Storage Handler:", HANDLERS[table.kind], ""))
    if table.format:
        rows.append(("Format:", table.format.upper(), ""))
    if serde:
        rows.append(("Storage Desc Params:", "", ""))
        rows += [("", key, value) for key, value in sorted(serde.items())]
    return rows


def describe_database(statement: u.DescribeDatabase, snapshot: Snapshot) -> Show:
    require_database(statement.name, statement.span, snapshot)
    comment = snapshot.database_comments.get(statement.name, "")
    if not statement.extended:
        return _show(("db_name", "comment"), [(statement.name, comment)])
    details = snapshot.database_details.get(statement.name, NO_DETAILS)
    properties = ", ".join(f"{key}={value}" for key, value in sorted(masked_all(details.properties).items()))
    row = (
        statement.name, comment, details.location, details.managed_location, details.owner, details.owner_type or "",
        f"{{{properties}}}" if properties else "",
    )  # fmt: skip
    names = ("db_name", "comment", "location", "managedLocation", "owner_name", "owner_type", "parameters")
    return _show(names, [row])


def require_database(name: str, span: Any, snapshot: Snapshot) -> None:
    if name not in snapshot.databases:
        hint = did_you_mean(name, snapshot.databases)
        raise CatalogStateError(f"Database does not exist: {name}", span=span, hint=hint)


def matches(pattern: str, name: str) -> bool:
    """Hive's LIKE of SHOW: `*` and `%` match any text, `_` and `.` one character, `|` separates alternatives; case is
    ignored."""
    return _expression(pattern).fullmatch(name) is not None


@lru_cache
def _expression(pattern: str) -> re.Pattern[str]:
    wildcards = {"*": ".*", "%": ".*", "_": ".", ".": "."}
    choices = ("".join(wildcards.get(c) or re.escape(c) for c in choice.strip()) for choice in pattern.split("|"))
    return re.compile("|".join(choices), re.IGNORECASE | re.DOTALL)


def show_names(statement: u.ShowNames, snapshot: Snapshot) -> Show:
    if statement.kind == "databases":
        return _show(("database_name",), _matching(snapshot.databases, statement.like))
    if statement.kind == "functions":
        from hivedruid.plan.functions import function_names

        own = (each.full_name for each in snapshot.functions.values())
        return _show(("tab_name",), _matching({*function_names(), *own}, statement.like))
    database = statement.database or snapshot.database
    require_database(database, statement.span, snapshot)
    return _show(("tab_name",), _matching(snapshot.names, statement.like))


def show_table_extended(statement: u.ShowTableExtended, snapshot: Snapshot) -> Show:
    from hivedruid.actions.utility.table_status import status

    require_database(statement.database or snapshot.database, statement.span, snapshot)
    return _show(("tab_name",), [(line,) for line in status(statement, snapshot)], is_text=True)


def _describe_own(function: UserFunction, *, extended: bool) -> Show:
    text = f"{function.signature} - {function.help}" if function.help else function.signature
    if not extended:
        return _show(("tab_name",), [(text,)])
    code = f"{'Java class' if function.language == 'java' else 'Python function'}: {function.code}"
    returns = f"Returns: {function.returns}" if function.language == "python" else ""
    kind = "" if function.is_deterministic else "Not deterministic"
    kind = kind or ("Temporary function" if not function.database else "")
    lines = [text, returns, code, *(f"File: {each}" for each in function.resources), kind]
    return _show(("tab_name",), [(line,) for line in lines if line])


def describe_function(statement: u.DescribeFunction, snapshot: Snapshot) -> Show:
    """As in Hive, an unknown name is no error."""
    from hivedruid.plan.function_help import HELP
    from hivedruid.plan.functions import ALIASES, FUNCTIONS, function_names
    from hivedruid.plan.refused_functions import no_such_function

    name = statement.name
    canonical = ALIASES.get(name, name)
    database, _, short = name.rpartition(".")
    own = snapshot.function(database or None, short)
    if own is not None and (not own.database or name not in function_names()):
        return _describe_own(own, extended=statement.extended)
    if name not in function_names():
        error = no_such_function(name, None, snapshot.function_names)
        return _show(("tab_name",), [(f"{error.message}; {error.hint}" if error.hint else error.message,)])
    function = FUNCTIONS.get(canonical)
    rows = [(f"{function.signature(name) if function else name} - {HELP[canonical]}",)]
    synonyms = sorted(other for other in function_names() if other != name and ALIASES.get(other, other) == canonical)
    if statement.extended and synonyms:
        rows.append((f"Synonyms: {', '.join(synonyms)}",))
    return _show(("tab_name",), rows)


def _matching(names: Iterable[str], like: str | None) -> list[Row]:
    return [(name,) for name in sorted(names) if like is None or matches(like, name)]


def show_columns(statement: u.ShowColumns, snapshot: Snapshot) -> Show:
    names = [column.name for column in _table(statement.name, snapshot).columns]
    return _show(("field",), [(name,) for name in names if statement.like is None or matches(statement.like, name)])


def show_table_properties(statement: u.ShowTableProperties, snapshot: Snapshot) -> Show:
    table = _table(statement.name, snapshot)
    listed = parameters(table)
    names = ("prpt_name", "prpt_value")
    if statement.key is None:
        return _show(names, listed.items())
    value = listed.get(statement.key, f"Table {table.full_name} does not have property: {statement.key}")
    return _show(names, [(statement.key, value)])


def show_create_table(statement: u.ShowCreateTable, snapshot: Snapshot) -> Show:
    table = _table(statement.name, snapshot)
    lines = [(line,) for line in create_statement(table).split("\n")]
    return _show(("createtab_stmt",), lines, is_text=True, query=table.view_text)


def describe_file(statement: u.DescribeFile, snapshot: Snapshot) -> Show:
    file = snapshot.loose_files[statement.file.path]
    file.table.check_readable(statement.span)
    lines = [(line,) for line in file.statement.split("\n")]
    return _show(("createtab_stmt",), lines, is_text=True)


def show_create_database(statement: u.ShowCreateDatabase, snapshot: Snapshot) -> Show:
    require_database(statement.name, statement.span, snapshot)
    comment = snapshot.database_comments.get(statement.name, "")
    details = snapshot.database_details.get(statement.name, NO_DETAILS)
    lines = [f"CREATE DATABASE {_name(statement.name)}"]
    clauses = ("COMMENT", comment), ("LOCATION", details.location), ("MANAGEDLOCATION", details.managed_location)
    for words, value in clauses:
        lines += [words, f"  {quoted(value)}"] if value else []
    lines += ["USING ICEBERG CATALOG"] if details.uses_iceberg else []
    lines += "\n".join(_listed("WITH DBPROPERTIES", details.properties)).splitlines()
    return _show(("createdb_stmt",), [(line,) for line in lines], is_text=True)


def create_statement(table: Table, name: str | None = None) -> str:
    """The CREATE statement of a table or view; running it creates the same one, except for secrets."""
    name = name or f"`{table.database}`.`{table.name}`"
    if table.is_view:
        columns = ", ".join(_name(c.name) + _comment_clause(c.comment) for c in table.columns)
        lines = [
            f"CREATE {'TEMPORARY ' if table.is_temporary else ''}VIEW {name}" + (f" ({columns})" if columns else "")
        ]
        if table.comment:
            lines.append(f"COMMENT {quoted(table.comment)}")
        return "\n".join([*lines, *_listed("TBLPROPERTIES", table.properties), f"AS {table.view_text}"])
    if table.is_materialized:
        return _create_materialized(name, table)
    columns_shown = table.stored_columns
    if table.has_topic:
        columns_shown = columns_shown[: -len(KAFKA_COLUMNS)]
    items = [f"  {_name(c.name)} {c.type}{of_column(table, c)}{_comment_clause(c.comment)}" for c in columns_shown]
    columns = ",\n".join([*items, *of_table(table)])
    sort = "EXTERNAL " if table.external else "TEMPORARY " if table.is_temporary else ""
    lines = [f"CREATE {sort}TABLE {name} (\n{columns})"]
    if table.comment:
        lines.append(f"COMMENT {quoted(table.comment)}")
    if table.has_partitions:
        shown = ",\n".join(f"  {_name(c.name)} {c.type}{_comment_clause(c.comment)}" for c in table.partition_columns)
        lines.append(f"PARTITIONED BY (\n{shown})")
    elif table.partition_spec:
        lines.append(f"PARTITIONED BY SPEC (\n  {', '.join(f.sql(_name(f.column)) for f in table.partition_spec)})")
    if table.sort_order:
        lines.append(f"WRITE LOCALLY ORDERED BY\n  {', '.join(f.sql(_name(f.column)) for f in table.sort_order)}")
    serde = dict(table.serde)
    if library := serde.pop("serialization.lib", None):
        lines.append(f"ROW FORMAT SERDE\n  {quoted(library)}")
    if table.kind in HANDLERS:
        lines.append(f"STORED BY\n  {quoted(HANDLERS[table.kind])}")
    lines += _listed("WITH SERDEPROPERTIES", serde)
    if format_ := declared_format(table):
        lines.append(f"STORED AS {format_.upper()}")
    if table.location and not table.is_temporary:
        lines.append(f"LOCATION\n  {quoted(table.location)}")
    own = (
        table.owns_data_source and table.data_source == table.full_name
    )  # if given, it would count as an existing data source
    properties = {k: v for k, v in table.properties.items() if not (own and k == "druid.datasource")}
    return "\n".join([*lines, *_listed("TBLPROPERTIES", properties)])


def _create_materialized(name: str, table: Table) -> str:
    lines = [f"CREATE MATERIALIZED VIEW {name}" + ("" if table.rewrite_enabled else " DISABLE REWRITE")]
    if table.comment:
        lines.append(f"COMMENT {quoted(table.comment)}")
    if table.kind in HANDLERS:
        lines.append(f"STORED BY\n  {quoted(HANDLERS[table.kind])}")
    own = table.data_source == table.full_name
    properties = {k: v for k, v in table.properties.items() if not (own and k == "druid.datasource")}
    return "\n".join([*lines, *_listed("TBLPROPERTIES", properties), f"AS {table.view_text}"])


def _listed(clause: str, values: Any) -> list[str]:
    if not values:
        return []
    pairs = ",\n".join(f"  {quoted(key)}={quoted(value)}" for key, value in sorted(masked_all(values).items()))
    return [f"{clause} (\n{pairs})"]


def _comment_clause(comment: str) -> str:
    return f" COMMENT {quoted(comment)}" if comment else ""


def _name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def quoted(text: str) -> str:
    """A string literal of Hive."""
    return "'" + "".join(_ESCAPES.get(c) or (f"\\u{ord(c):04x}" if ord(c) < 32 else c) for c in text) + "'"
