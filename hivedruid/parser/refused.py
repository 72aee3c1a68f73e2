"""Hive statements that hivedruid does not support, with the reason and an alternative."""

from __future__ import annotations

import re

from hivedruid.errors import UnsupportedError
from hivedruid.parser.tokens import next_sign
from hivedruid.script import SourceStatement

# The first words of a statement -> (message, hint). The first match is used.
_REFUSED: tuple[tuple[str, str, str], ...] = (
    ("MERGE", "MERGE is not supported", "use INSERT OVERWRITE TABLE … SELECT to write the merged rows"),
    ("LOAD DATA", "LOAD DATA is not supported: files are not moved into tables",
     "use CREATE EXTERNAL TABLE with the LOCATION of the files, then INSERT INTO … SELECT"),
    ("LOAD", "LOAD is not supported: files are not moved into tables",
     "use CREATE EXTERNAL TABLE with the LOCATION of the files, then INSERT INTO … SELECT"),
    ("DFS", "dfs is not supported: scripts cannot access the file system", "run the command in a shell"),
    ("MSCK", "MSCK is not supported: tables have no partitions to repair",
     "an external table always reads the current files at its LOCATION"),
    ("EXPORT", "EXPORT is not supported", "use INSERT … SELECT into an external table"),
    ("IMPORT", "IMPORT is not supported", "use CREATE EXTERNAL TABLE with the LOCATION of the files"),
    ("GRANT", "GRANT is not supported: hivedruid has no users or roles",
     "configure permissions in Druid and on the file system"),
    ("REVOKE", "REVOKE is not supported: hivedruid has no users or roles",
     "configure permissions in Druid and on the file system"),
    ("CREATE ROLE", "roles are not supported", "configure permissions in Druid and on the file system"),
    ("DROP ROLE", "roles are not supported", "configure permissions in Druid and on the file system"),
    ("SHOW GRANT", "roles are not supported", "configure permissions in Druid and on the file system"),
    ("SHOW ROLES", "roles are not supported", "configure permissions in Druid and on the file system"),
    ("SHOW CURRENT ROLES", "roles are not supported", "configure permissions in Druid and on the file system"),
    ("SHOW PARTITIONS", "SHOW PARTITIONS is not supported: tables have no partitions",
     "Druid partitions by time: see druid.segment.granularity"),
    ("SHOW LOCKS", "SHOW LOCKS is not supported: hivedruid has no table locks", "catalog writes are serialized"),
    ("SHOW TRANSACTIONS", "SHOW TRANSACTIONS is not supported: each statement is a transaction of its own",
     "remove it"),
    ("SHOW INDEX", "indexes are not supported", "Druid indexes all string columns"),
    ("SHOW CONF", "SHOW CONF is not supported", "use SET key for one setting, SET -v for all settings"),
    ("SHOW TABLE EXTENDED", "SHOW TABLE EXTENDED is not supported", "use DESCRIBE EXTENDED"),
    ("LOCK", "LOCK is not supported: hivedruid has no table locks", "remove it: statements only see complete writes"),
    ("UNLOCK", "UNLOCK is not supported: hivedruid has no table locks", "remove it"),
    ("START TRANSACTION", "transactions are not supported: each statement is a transaction of its own", "remove it"),
    ("COMMIT", "transactions are not supported: each statement is a transaction of its own", "remove it"),
    ("ROLLBACK INGESTION", "ROLLBACK INGESTION is a clause of ALTER TABLE", "use ALTER TABLE table ROLLBACK INGESTION"),
    ("ROLLBACK", "transactions are not supported: each statement is a transaction of its own", "remove it"),
    ("KILL QUERY", "KILL QUERY is not supported: other sessions' statements are unknown",
     "use Ctrl-C to cancel your own statement, KILL TASK 'id' to stop a Druid task"),
    ("ADD", "ADD is not supported: files and jars cannot be added", "remove it"),
    ("LIST", "LIST is not supported: files and jars cannot be added", "remove it"),
    ("RELOAD", "RELOAD is not supported: functions cannot be added", "remove it"),
    ("CREATE FUNCTION", "CREATE FUNCTION is not supported: Java functions cannot be run",
     "run SHOW FUNCTIONS to list the functions"),
    ("CREATE TEMPORARY FUNCTION", "CREATE FUNCTION is not supported: Java functions cannot be run",
     "run SHOW FUNCTIONS to list the functions"),
    ("CREATE TEMPORARY MACRO", "CREATE MACRO is not supported", "write the expression in full, or use a view"),
    ("CREATE TEMPORARY TABLE", "CREATE TEMPORARY TABLE is not supported",
     "use CREATE TABLE, and DROP TABLE at the end"),
    ("CREATE TRANSACTIONAL", "CREATE TRANSACTIONAL TABLE is not supported",
     "use CREATE TABLE: writes to managed tables are atomic"),
    ("CREATE INDEX", "CREATE INDEX is not supported", "Druid indexes all string columns"),
    ("CREATE SCHEDULED QUERY", "CREATE SCHEDULED QUERY is not supported", "run the script with cron"),
    ("CREATE REMOTE DATABASE", "CREATE REMOTE DATABASE is not supported", "use CREATE DATABASE"),
    ("CREATE DATACONNECTOR", "CREATE DATACONNECTOR is not supported",
     "use tables STORED BY druid or kafka, or external tables"),
    ("DROP FUNCTION", "DROP FUNCTION is not supported", "remove it: functions cannot be created"),
    ("DROP TEMPORARY", "DROP TEMPORARY is not supported",
     "remove it: temporary functions and macros cannot be created"),
    ("DROP INDEX", "DROP INDEX is not supported", "remove it: indexes cannot be created"),
    ("ALTER DATABASE", "ALTER DATABASE is not supported", "drop the database and create it again"),
    ("ALTER SCHEMA", "ALTER SCHEMA is not supported", "drop the database and create it again"),
    ("ALTER VIEW", "ALTER VIEW is not supported", "use CREATE OR REPLACE VIEW"),
    ("ALTER INDEX", "ALTER INDEX is not supported", "Druid indexes all string columns"),
    ("MAP", "MAP … USING is not supported: external scripts are not run", "use functions in SELECT"),
    ("REDUCE", "REDUCE … USING is not supported: external scripts are not run", "use functions in SELECT"),
)  # fmt: skip
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
        return
    words = [(word, end)]
    for match in re.compile(r"\s+([A-Za-z_]+)").finditer(source.text, end):
        if match.start() != words[-1][1] or len(words) == 3:
            break
        words.append((match[1].upper(), match.end()))
    if [w for w, _ in words[:2]] in _SUPPORTED:
        return
    for refused, reason, hint in _REFUSED:
        length = len(refused.split())
        if [w for w, _ in words[:length]] == refused.split():
            begin = words[0][1] - len(word)
            raise UnsupportedError(reason, span=source.span(begin, words[length - 1][1]), hint=hint)
