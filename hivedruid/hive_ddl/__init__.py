"""Converts DDL for Hive's Druid and Kafka handlers to hivedruid. Pure: text in, values out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from sqlglot import TokenType

from hivedruid.catalog.kinds import KINDS
from hivedruid.catalog.properties import has_ingestion
from hivedruid.catalog.table import Table
from hivedruid.errors import HiveDruidError, ParseError, UnsetVariableError, UnsupportedError
from hivedruid.hive_ddl.acceptance import Tables
from hivedruid.hive_ddl.create import read_shape, revise_table
from hivedruid.hive_ddl.draft import Draft
from hivedruid.hive_ddl.druid_specs import refusal
from hivedruid.hive_ddl.findings import Finding, FindingKind, Imported
from hivedruid.hive_ddl.properties import revised
from hivedruid.hive_ddl.script import statements
from hivedruid.hive_ddl.settings import revise_set
from hivedruid.parser import parse
from hivedruid.parser.queries import QUERY_WORDS
from hivedruid.parser.statements import TableName
from hivedruid.parser.statements.utility import SetSetting, WithoutEffect
from hivedruid.parser.tokens import next_word
from hivedruid.script import SourceStatement
from hivedruid.secret_text import ranges, redact, secrets_of
from hivedruid.secrets import is_secret, referenced

UNCHECKED = "not checked because it contains variables"

__all__ = ["UNCHECKED", "Finding", "FindingKind", "Imported", "import_script"]


def import_script(text: str, file: str | None = None) -> Iterator[Imported]:
    """Convert each statement of a script or of SHOW CREATE TABLE output. Raises ParseError at an unterminated string,
    name or comment.
    """
    tables = Tables()
    sources = list(statements(text, file))
    for comments, source in sources:
        is_end = source is sources[-1][1] and next_word(source.text)[0] in _ENDS
        imported = _end_of_script(source) if is_end else _imported(source, tables)
        known = secrets_of(source.text)
        findings = tuple(
            replace(each, text=redact(each.text, known), hint=redact(each.hint, known)) for each in imported.findings
        )
        yield replace(imported, comments=comments, findings=findings)


def _imported(source: SourceStatement, tables: Tables) -> Imported:
    if (refused := refusal(source.text)) is not None:
        return Imported(source, None, (refused,))
    try:
        text, findings = _revised(source, tables)
    except UnsetVariableError:
        text, findings = source.text, []
    except ParseError as error:
        return Imported(source, None, (_refused(error),))
    if text == "":
        return Imported(source, "", tuple(findings))
    changed = source if text == source.text else SourceStatement(text, source.line, source.column, source.file)
    if (key := _secret_in(changed)) is not None:
        why = f"the value of '{key}' is a secret in plain text; use env:NAME, the name of an environment variable"
        return Imported(source, None, (*findings, Finding("refused", why)))
    if _shows_secret(changed):
        why = "the statement appears to contain a secret; use env:NAME, the name of an environment variable"
        return Imported(source, None, (*findings, Finding("refused", why)))
    try:
        parsed = parse(changed)
        if isinstance(parsed, WithoutEffect) and not parsed.files:
            return Imported(source, "", (*findings, Finding("dropped", parsed.reason)))
        table = tables.take(parsed)
    except HiveDruidError as error:
        if _is_needless(changed, error):
            return Imported(source, "", (*findings, Finding("dropped", _explanation(error, hint=False))))
        if "${" in text:
            return Imported(
                source,
                text,
                (*findings, Finding("note", f"{UNCHECKED}: {_explanation(error)}")),
            )
        return Imported(source, None, (*findings, _refused(error)))
    return Imported(source, text, tuple(findings), _summary(table) if table else "")


_ENDS = ("EXIT", "QUIT")
"""Commands of Hive's shells that end a script."""


def _end_of_script(source: SourceStatement) -> Imported:
    return Imported(source, "", (Finding("dropped", f"{source.text} (a script ends after its last statement)"),))


def _revised(source: SourceStatement, tables: Tables) -> tuple[str, list[Finding]]:
    """The statement with its edits applied; empty if nothing is left."""
    word = next_word(source.text)[0]
    if word == "SET":
        statement = parse(source)
        if not isinstance(statement, SetSetting):  # SET ROLE
            return source.text, []
        text, findings = revise_set(statement)
        return source.text if text is None else text, findings
    if word == "CREATE":
        draft = Draft(source)
        if (shape := read_shape(draft)) is not None:
            revise_table(shape)
        return draft.text, draft.findings
    if word == "ALTER":
        draft = Draft(source)
        left = _revise_alter(draft, tables)
        return draft.text if left else "", draft.findings
    return source.text, []


def _secret_in(source: SourceStatement) -> str | None:
    """The key of the first plain-text secret in a DDL statement, or None."""
    if next_word(source.text)[0] not in ("CREATE", "ALTER"):
        return None
    tokens = Draft(source).tokens
    for key, equals, value in zip(tokens, tokens[1:], tokens[2:], strict=False):
        strings = key.token_type == value.token_type == TokenType.STRING
        if strings and equals.text == "=" and is_secret(key.text) and value.text and referenced(value.text) is None:
            return key.text
    return None


_QUERY = re.compile(r"\bAS\s*\(?\s*(?:SELECT|WITH|FROM|VALUES)\b", re.IGNORECASE)


def _shows_secret(source: SourceStatement) -> bool:
    """Whether the statement contains a plain-text secret outside of queries, whose literals are data."""
    if next_word(source.text)[0] in QUERY_WORDS or next_word(source.text)[0] == "INSERT":
        return False
    query = _QUERY.search(source.text) if next_word(source.text)[0] == "CREATE" else None
    return bool(ranges(source.text[: query.start()] if query else source.text, statement=True))


def _revise_alter(draft: Draft, tables: Tables) -> bool:
    """Apply the edits to ALTER TABLE … SET TBLPROPERTIES; returns whether anything is left of it."""
    cursor = draft.cursor()
    if not cursor.accept("ALTER", "TABLE"):
        return True
    name: TableName = cursor.table_name()
    if not cursor.accept("SET", "TBLPROPERTIES"):
        return True
    start = cursor.index
    read = draft.pairs(start)
    if read is None:
        return True
    pairs, end = read
    table = tables.find(name)
    kept, findings = revised(pairs, table.kind if table else None, table.properties if table else None)
    draft.findings += findings
    if kept and kept != pairs:
        draft.replace_pairs(start, end, kept)
    return bool(kept)


_LOOKS = ("SHOW", "DESCRIBE", "DESC", "EXPLAIN")
"""Read-only statements, which a script does not depend on."""
_NEEDLESS = (*_LOOKS, "MSCK")
_KEPT = ("CREATE", "INSERT", "FROM", "WITH", "SELECT")


def _is_needless(source: SourceStatement, error: HiveDruidError) -> bool:
    """Whether an unsupported statement can be dropped because it has no purpose in hivedruid: locks, statistics,
    jars."""
    word = next_word(source.text)[0]
    if not isinstance(error, UnsupportedError) or word in _KEPT:
        return False
    return word in _NEEDLESS or (error.hint or "").startswith("remove it")


def _refused(error: HiveDruidError) -> Finding:
    return Finding("refused", error.message, error.hint or "")


def _explanation(error: HiveDruidError, *, hint: bool = True) -> str:
    return f"{error.message}; {error.hint}" if error.hint and hint else error.message


def _summary(table: Table) -> str:
    return KINDS[table.kind].noun + (
        " with Kafka ingestion" if table.has_data_source and has_ingestion(table.properties) else ""
    )
