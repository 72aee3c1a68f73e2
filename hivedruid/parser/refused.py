"""Hive statements that hivedruid does not support, with the reason and an alternative, and those without effect."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hivedruid.errors import ParseError, Span, UnsupportedError
from hivedruid.locations import absolute
from hivedruid.parser.statements.utility import Resources, WithoutEffect
from hivedruid.parser.tokens import next_sign
from hivedruid.script import SourceStatement

_AT_THE_PROMPT = "exit and quit are commands of the prompt: a script ends after its last statement"

# The first words of a statement -> (message, hint). The first match is used.
_REFUSED: tuple[tuple[str, str, str], ...] = (
    ("DFS", "dfs is not supported: scripts cannot access the file system", "run the command in a shell"),
    ("EXIT", _AT_THE_PROMPT, "end the script here: delete this statement and those after it"),
    ("QUIT", _AT_THE_PROMPT, "end the script here: delete this statement and those after it"),
    ("EXPORT", "EXPORT is not supported", "use INSERT … SELECT into an external table"),
    ("IMPORT", "IMPORT is not supported", "use CREATE EXTERNAL TABLE with the LOCATION of the files"),
    ("SHOW INDEX", "indexes are not supported", "Druid indexes all string columns"),
    ("START TRANSACTION", "transactions are not supported: each statement is a transaction of its own", "remove it"),
    ("COMMIT", "transactions are not supported: each statement is a transaction of its own", "remove it"),
    ("ROLLBACK INGESTION", "ROLLBACK INGESTION is a clause of ALTER TABLE", "use ALTER TABLE table ROLLBACK INGESTION"),
    ("ROLLBACK", "transactions are not supported: each statement is a transaction of its own", "remove it"),
    ("KILL QUERY", "KILL QUERY is not supported: other sessions' statements are unknown",
     "use Ctrl-C to cancel your own statement, KILL TASK 'id' to stop a Druid task"),
    ("LIST ARCHIVE", "archives are not supported", "use LIST JARS or LIST FILES"),
    ("DELETE ARCHIVE", "archives are not supported", "use DELETE JAR or DELETE FILE"),
    ("CREATE MACRO", "CREATE MACRO is not supported: macros are temporary", "use CREATE TEMPORARY MACRO"),
    ("CREATE TEMPORARY EXTERNAL", "CREATE TEMPORARY EXTERNAL TABLE is not supported: temporary tables have no LOCATION",
     "use CREATE TEMPORARY TABLE or CREATE EXTERNAL TABLE"),
    ("CREATE INDEX", "CREATE INDEX is not supported", "Druid indexes all string columns"),
    ("CREATE SCHEDULED QUERY", "CREATE SCHEDULED QUERY is not supported", "run the script with cron"),
    ("CREATE REMOTE DATABASE", "CREATE REMOTE DATABASE is not supported", "use CREATE DATABASE"),
    ("CREATE DATACONNECTOR", "CREATE DATACONNECTOR is not supported",
     "use tables STORED BY druid or kafka, or external tables"),
    ("DROP INDEX", "DROP INDEX is not supported", "remove it: indexes cannot be created"),
    ("ALTER INDEX", "ALTER INDEX is not supported", "Druid indexes all string columns"),
)  # fmt: skip
_ROLES = "hivedruid has no users or roles", "configure permissions in Druid and on the file system"
_LOCKS = "hivedruid has no table locks", "statements only see complete writes"
_FILES = (
    "scripts of TRANSFORM are disabled",
    "SET hivedruid.transform.enabled=true, or for a Python function use CREATE FUNCTION … USING FILE 'path'",
)
_ARCHIVES = "archives are not unpacked", "use ADD FILE for each file that a script of TRANSFORM reads"
_RELOAD = "each statement reads the functions of the catalog", "remove it"
_WITHOUT_EFFECT: Mapping[str, tuple[str, str]] = {
    "GRANT": _ROLES,
    "REVOKE": _ROLES,
    "CREATE ROLE": _ROLES,
    "DROP ROLE": _ROLES,
    "LOCK TABLE": _LOCKS,
    "LOCK DATABASE": _LOCKS,
    "UNLOCK TABLE": _LOCKS,
    "UNLOCK DATABASE": _LOCKS,
    **{f"ADD {kind}": _FILES for kind in ("FILE", "FILES")},
    **{f"ADD {kind}": _ARCHIVES for kind in ("ARCHIVE", "ARCHIVES")},
    "RELOAD FUNCTION": _RELOAD,
    "RELOAD FUNCTIONS": _RELOAD,
    "SHOW GRANT": _ROLES,
    "SHOW ROLES": _ROLES,
    "SHOW CURRENT ROLES": _ROLES,
    "SHOW ROLE GRANT": _ROLES,
    "SHOW PRINCIPALS": _ROLES,
    "SHOW LOCKS": _LOCKS,
    "SHOW TRANSACTIONS": ("each statement is a transaction of its own", "use SHOW JOBS to list writes"),
}
"""The first words of statements that are accepted -> (reason, hint)."""
_COLUMNS: Mapping[str, str] = {
    "SHOW GRANT": "database table partition column principal_name principal_type privilege grant_option grant_time"
    " grantor",
    "SHOW ROLES": "role",
    "SHOW CURRENT ROLES": "role",
    "SHOW ROLE GRANT": "role grant_option grant_time grantor",
    "SHOW PRINCIPALS": "principal_name principal_type grant_option grantor grantor_type grant_time",
    "SHOW LOCKS": "lockid database table partition lock_state blocked_by lock_type transaction_id last_heartbeat"
    " acquired_at user hostname agent_info",
    "SHOW TRANSACTIONS": "txnid state startedtime lastheartbeattime user host",
}
"""Those that return no rows, with the columns that Hive returns."""
_SUPPORTED = [["ROLLBACK", "STREAM"]]
"""Statements of hivedruid that begin with the same word."""


def refuse(source: SourceStatement, word: str, start: int, end: int) -> None:
    """Raise UnsupportedError if the statement at `start`, whose first word ends at `end`, is one of those."""
    if not word:
        sign, place = next_sign(source.text, start)
        if sign == "!":
            raise UnsupportedError(
                "shell commands are not supported: scripts cannot run other programs",
                span=source.span(place),
                hint="run the command in a shell",
            )
        if sign == "\\":
            raise UnsupportedError(
                "commands with a backslash are not supported in scripts: they are commands of the prompt",
                span=source.span(place),
                hint="use SHOW TABLES for \\d, DESCRIBE table for \\d table, SOURCE file for \\i file",
            )
        return
    words = _words(source, word, end)
    if [w for w, _ in words[:2]] in _SUPPORTED:
        return
    for refused, reason, hint in _REFUSED:
        length = len(refused.split())
        if [w for w, _ in words[:length]] == refused.split():
            begin = words[0][1] - len(word)
            raise UnsupportedError(reason, span=source.span(begin, words[length - 1][1]), hint=hint)


def without_effect(source: SourceStatement, word: str, end: int) -> WithoutEffect | None:
    """The statement whose first word ends at `end`, if it is accepted and does nothing."""
    words = _words(source, word, end)
    for length in range(1, len(words) + 1):
        name = " ".join(each for each, _ in words[:length])
        if (found := _WITHOUT_EFFECT.get(name)) is not None:
            span = source.span(end - len(word), words[length - 1][1])
            files = _paths(source, words[length - 1][1]) if name.startswith("ADD FILE") else ()
            columns = tuple(_COLUMNS.get(name, "").split())
            what = "lists nothing" if columns else "has no effect"
            return WithoutEffect(source, f"{name} {what}: {found[0]}", found[1], span, files, columns)
    return None


def resources(source: SourceStatement, word: str, end: int) -> Resources | None:
    """The statement whose first word ends at `end`, if it is about the jars or the files of the session."""
    words = _words(source, word, end)
    kind = words[1][0].removesuffix("S") if len(words) > 1 else ""
    if word not in ("ADD", "DELETE", "LIST") or kind not in ("JAR", "FILE") or (word, kind) == ("ADD", "FILE"):
        return None
    given = _paths(source, words[1][1])
    if word == "ADD" and not given:
        at = source.span(words[1][1])
        raise ParseError("expected the path of a jar", span=at, hint="use ADD JAR path")
    return Resources(source, word.lower(), kind.lower(), given)  # type: ignore[arg-type]


def _paths(source: SourceStatement, end: int) -> tuple[str, ...]:
    """The paths of ADD FILE or JAR, from the script's folder."""
    text = re.sub(r"(?m)(?:^|\s)--.*$", "", source.text[end:]).rstrip().removesuffix(";")
    found = re.findall(r"'[^']*'|\"[^\"]*\"|\S+", text)
    return tuple(absolute(path.strip("'\"").removeprefix("file://"), source) for path in found)


def role(source: SourceStatement, span: Span) -> WithoutEffect:
    """SET ROLE."""
    return WithoutEffect(source, f"SET ROLE has no effect: {_ROLES[0]}", _ROLES[1], span)


def _words(source: SourceStatement, word: str, end: int) -> list[tuple[str, int]]:
    """The first words of a statement, three at the most, and where they end."""
    words = [(word, end)]
    for match in re.compile(r"\s+([A-Za-z_]+)").finditer(source.text, end):
        if match.start() != words[-1][1] or len(words) == 3:
            break
        words.append((match[1].upper(), match.end()))
    return words
