"""Statements of Hive that hivedruid knows and does not do: the reason, and what to do instead."""

from __future__ import annotations

import re

from hivedruid.errors import UnsupportedError
from hivedruid.parser.tokens import next_sign
from hivedruid.script import SourceStatement

# The words a statement begins with -> (what is refused and why, what to do instead). The first match counts.
_REFUSED: tuple[tuple[str, str, str], ...] = (
    ("UPDATE", "UPDATE is not supported: Druid cannot change single rows", "write the wanted rows with INSERT OVERWRITE TABLE … SELECT"),
    ("DELETE", "DELETE is not supported: Druid cannot remove single rows", "keep the other rows with INSERT OVERWRITE TABLE … SELECT … WHERE"),
    ("MERGE", "MERGE is not supported: Druid cannot change single rows", "write the merged rows with INSERT OVERWRITE TABLE … SELECT"),
    ("LOAD DATA", "LOAD DATA is not supported: files are not moved into tables", "CREATE EXTERNAL TABLE over the files with LOCATION, then INSERT INTO … SELECT"),
    ("LOAD", "LOAD is not supported: files are not moved into tables", "CREATE EXTERNAL TABLE over the files with LOCATION, then INSERT INTO … SELECT"),
    ("DFS", "dfs is not supported: a script does not touch the file system", "run the command in a shell"),
    ("MSCK", "MSCK is not supported: tables have no partitions to repair", "an external table always reads the files that are at its LOCATION"),
    ("EXPORT", "EXPORT is not supported", "write the rows to an external table with INSERT … SELECT"),
    ("IMPORT", "IMPORT is not supported", "CREATE EXTERNAL TABLE over the files with LOCATION"),
    ("GRANT", "GRANT is not supported: there are no users or roles here", "set rights in Druid and on the file system"),
    ("REVOKE", "REVOKE is not supported: there are no users or roles here", "set rights in Druid and on the file system"),
    ("CREATE ROLE", "roles are not supported", "set rights in Druid and on the file system"),
    ("DROP ROLE", "roles are not supported", "set rights in Druid and on the file system"),
    ("SHOW GRANT", "roles are not supported", "set rights in Druid and on the file system"),
    ("SHOW ROLES", "roles are not supported", "set rights in Druid and on the file system"),
    ("SHOW CURRENT ROLES", "roles are not supported", "set rights in Druid and on the file system"),
    ("SHOW PARTITIONS", "SHOW PARTITIONS is not supported: tables have no partitions", "Druid partitions by time: see druid.segment.granularity"),
    ("SHOW LOCKS", "SHOW LOCKS is not supported: there are no table locks", "one statement writes the catalog at a time"),
    ("SHOW TRANSACTIONS", "SHOW TRANSACTIONS is not supported: every statement is its own transaction", "leave it out"),
    ("SHOW INDEX", "indexes are not supported", "Druid indexes every string column by itself"),
    ("SHOW CONF", "SHOW CONF is not supported", "SET key shows a setting, SET -v all of them"),
    ("SHOW TABLE EXTENDED", "SHOW TABLE EXTENDED is not supported", "use DESCRIBE EXTENDED"),
    ("LOCK", "LOCK is not supported: there are no table locks", "leave it out: every statement sees whole writes only"),
    ("UNLOCK", "UNLOCK is not supported: there are no table locks", "leave it out"),
    ("START TRANSACTION", "transactions are not supported: every statement is its own", "leave it out"),
    ("COMMIT", "transactions are not supported: every statement is its own", "leave it out"),
    ("ROLLBACK INGESTION", "ROLLBACK INGESTION is a clause of ALTER TABLE", "write ALTER TABLE table ROLLBACK INGESTION"),
    ("ROLLBACK", "transactions are not supported: every statement is its own", "leave it out"),
    ("KILL QUERY", "KILL QUERY is not supported: the statements of others are not known here", "Ctrl-C cancels your own; KILL TASK 'id' ends a task of Druid"),
    ("ADD", "ADD is not supported: there is no Hive to add files or jars to", "leave it out"),
    ("LIST", "LIST is not supported: there are no added files or jars", "leave it out"),
    ("RELOAD", "RELOAD is not supported: there are no functions to load", "leave it out"),
    ("CREATE FUNCTION", "CREATE FUNCTION is not supported: there is no Java to run it", "SHOW FUNCTIONS lists what there is"),
    ("CREATE TEMPORARY FUNCTION", "CREATE FUNCTION is not supported: there is no Java to run it", "SHOW FUNCTIONS lists what there is"),
    ("CREATE TEMPORARY MACRO", "CREATE MACRO is not supported", "write the expression out, or put it into a view"),
    ("CREATE TEMPORARY TABLE", "CREATE TEMPORARY TABLE is not supported", "use CREATE TABLE and DROP it at the end"),
    ("CREATE TRANSACTIONAL", "CREATE TRANSACTIONAL TABLE is not supported", "use CREATE TABLE: managed tables have ACID commits anyway"),
    ("CREATE INDEX", "CREATE INDEX is not supported", "Druid indexes every string column by itself"),
    ("CREATE SCHEDULED QUERY", "CREATE SCHEDULED QUERY is not supported", "run the script with cron"),
    ("CREATE REMOTE DATABASE", "CREATE REMOTE DATABASE is not supported", "use CREATE DATABASE"),
    ("CREATE DATACONNECTOR", "CREATE DATACONNECTOR is not supported", "use tables STORED BY druid or kafka, or external tables"),
    ("DROP FUNCTION", "DROP FUNCTION is not supported", "leave it out: functions cannot be created"),
    ("DROP TEMPORARY", "DROP TEMPORARY is not supported", "leave it out: temporary functions and macros cannot be created"),
    ("DROP INDEX", "DROP INDEX is not supported", "leave it out: indexes cannot be created"),
    ("ALTER DATABASE", "ALTER DATABASE is not supported", "drop the database and create it again"),
    ("ALTER SCHEMA", "ALTER SCHEMA is not supported", "drop the database and create it again"),
    ("ALTER VIEW", "ALTER VIEW is not supported", "use CREATE OR REPLACE VIEW"),
    ("ALTER INDEX", "ALTER INDEX is not supported", "Druid indexes every string column by itself"),
    ("MAP", "MAP … USING is not supported: scripts are not run on rows", "use functions in a SELECT"),
    ("REDUCE", "REDUCE … USING is not supported: scripts are not run on rows", "use functions in a SELECT"),
)  # fmt: skip


def refuse(source: SourceStatement, word: str, start: int, end: int) -> None:
    """Raise UnsupportedError if the statement at `start`, whose first word ends at `end`, is one of those."""
    if not word:
        sign, place = next_sign(source.text, start)
        if sign == "!":
            raise UnsupportedError(
                "shell commands are not supported: a script does not start other programs",
                span=source.span(place),
                hint="run the command in a shell",
            )
        return
    words = [(word, end)]
    for match in re.compile(r"\s+([A-Za-z_]+)").finditer(source.text, end):
        if match.start() != words[-1][1] or len(words) == 3:
            break
        words.append((match[1].upper(), match.end()))
    for refused, reason, instead in _REFUSED:
        length = len(refused.split())
        if [w for w, _ in words[:length]] == refused.split():
            begin = words[0][1] - len(word)
            raise UnsupportedError(reason, span=source.span(begin, words[length - 1][1]), hint=instead)
