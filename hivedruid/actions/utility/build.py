"""The actions of SET, RESET, SHOW and DESCRIBE. Pure: the snapshot holds all facts."""

from __future__ import annotations

from typing import assert_never

from hivedruid.actions.model import Action
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note, StatementPlan
from hivedruid.actions.utility import macros, show
from hivedruid.actions.utility.model import ChangeMacro, ChangeSetting, ResetSetting
from hivedruid.errors import SemanticError, UnsupportedError
from hivedruid.parser.statements import Statement
from hivedruid.parser.statements import utility as u
from hivedruid.settings import JARS, TRANSFORM_FILES


def build(statement: Statement, snapshot: Snapshot, note: Note | None = None) -> StatementPlan:
    """Raises SemanticError, with the position, for an unknown table, column, database or setting, or an invalid
    value."""
    assert isinstance(statement, u.UtilityStatement)
    if isinstance(statement, u.WithoutEffect):
        return _without_effect(statement, snapshot, note)
    return StatementPlan((_action(statement, snapshot),))


def _without_effect(statement: u.WithoutEffect, snapshot: Snapshot, note: Note | None) -> StatementPlan:
    if statement.files and snapshot.settings.get("hivedruid.transform.enabled", "").lower() == "true":
        known = snapshot.settings.get(TRANSFORM_FILES, "").splitlines()
        return StatementPlan((_set_paths(TRANSFORM_FILES, [*known, *statement.files]),))
    if snapshot.settings.get("hivedruid.statements.without.effect") == "refuse":
        raise UnsupportedError(statement.reason, span=statement.span, hint=statement.hint)
    if note is not None:
        note(f"{statement.reason}; {statement.hint}", statement.span)
    return StatementPlan((show.nothing(statement.columns),) if statement.columns else ())


def _action(statement: u.EffectiveStatement, snapshot: Snapshot) -> Action:
    match statement:
        case u.DescribeTable():
            return show.describe_table(statement, snapshot)
        case u.DescribeFile():
            return show.describe_file(statement, snapshot)
        case u.DescribeDatabase():
            return show.describe_database(statement, snapshot)
        case u.DescribeFunction():
            return show.describe_function(statement, snapshot)
        case u.SetSetting():
            return _set(statement, snapshot)
        case u.Resources():
            return _resources(statement, snapshot)
        case u.ResetSettings():
            return ResetSetting(statement.key)
        case u.CreateMacro():
            return macros.create(statement, snapshot)
        case u.DropMacro():
            return ChangeMacro(statement.name)
        case _:
            return _shown(statement, snapshot)


def _shown(statement: u.ShowStatement, snapshot: Snapshot) -> Action:
    match statement:
        case u.ShowNames():
            return show.show_names(statement, snapshot)
        case u.ShowTableExtended():
            return show.show_table_extended(statement, snapshot)
        case u.ShowColumns():
            return show.show_columns(statement, snapshot)
        case u.ShowCreateTable():
            return show.show_create_table(statement, snapshot)
        case u.ShowCreateDatabase():
            return show.show_create_database(statement, snapshot)
        case u.ShowTableProperties():
            return show.show_table_properties(statement, snapshot)
        case u.ShowConf():
            return show.show_conf(statement)
        case _:
            assert_never(statement)


def _resources(statement: u.Resources, snapshot: Snapshot) -> Action:
    """As in Hive, deleting what was not added is no error. A jar that does not exist is one of CREATE FUNCTION only: in
    many scripts it has a SerDe, which hivedruid does not need."""
    key = JARS if statement.kind == "jar" else TRANSFORM_FILES
    known, given = snapshot.settings.get(key, "").splitlines(), statement.paths
    if statement.change == "list":
        return show.lines([path for path in known if path in given or not given])
    kept = [*known, *given] if statement.change == "add" else [path for path in known if given and path not in given]
    return _set_paths(key, kept)


def _set_paths(key: str, paths: list[str]) -> ChangeSetting:
    return ChangeSetting(key, "\n".join(dict.fromkeys(paths)))


def _set(statement: u.SetSetting, snapshot: Snapshot) -> Action:
    if statement.key is None or statement.value is None:
        return show.settings(statement, snapshot)
    from hivedruid.hive_settings import mapped
    from hivedruid.settings import AT_START, check

    key = statement.key.removeprefix("hiveconf:")
    if key in AT_START:
        raise SemanticError(
            f"{key} cannot be changed in a session", span=statement.span,
            hint=f"start hivedruid with --hiveconf {key}=…, or write it to hivedruid.toml",
        )  # fmt: skip
    if key.startswith("hivevar:"):
        return ChangeSetting(key, statement.value)
    for prefix in ("system:", "env:"):
        if key.startswith(prefix):
            raise SemanticError(
                f"'{prefix}' variables cannot be set", span=statement.span, hint="use SET hivevar:name=value"
            )
    if (target := mapped(key, statement.value)) is not None:
        check(*target, statement.span)
    return ChangeSetting(key, check(key, statement.value, statement.span))
