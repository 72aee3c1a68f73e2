"""The words that completion offers, from the tables of statements, functions, settings and properties."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Literal

from hivedruid.catalog.properties import GRANULARITIES, PROPERTIES
from hivedruid.lazy_dataclass import dataclass
from hivedruid.setting_types import written_values
from hivedruid.settings import FAMILIES, SETTINGS, WITHOUT_EFFECT

CandidateKind = Literal["statement", "keyword", "table", "database", "column", "function", "setting", "property",
    "value", "stream", "command"]  # fmt: skip

KEYWORDS = """
    ADD AFTER ALL ALTER ANALYZE AND ANY ARCHIVE ARCHIVES ARRAY AS ASC AST AUTHORIZATION BATCH BATCHES BETWEEN BIGINT
    BINARY BOOLEAN BUCKET BUCKETS BY CACHE CANCEL CASCADE CASE CAST CATALOG CBO CHANGE CHAR CHECK CHECKPOINT CHECKPOINTS
    CLUSTER CLUSTERED COLLECTION COLUMN COLUMNS COMMENT COMPACT COMPACTIONS COMPUTE CONCATENATE CONF CONSTRAINT COST
    CREATE CROSS CUBE CURRENT CURRENT_DATE CURRENT_TIMESTAMP DATA DATABASE DATABASES DATE DAY DBPROPERTIES DDL DEBUG
    DECIMAL DEFINED DELETE DELIMITED DEPENDENCY DESC DESCRIBE DETAIL DIRECTORIES DIRECTORY DISABLE DISTINCT DISTRIBUTE
    DIV DOUBLE DROP EARLIEST ELSE ENABLE END ENFORCED ESCAPED EXCEPT EXCHANGE EXCLUSIVE EXECUTE EXISTS EXPLAIN
    EXPRESSION EXTENDED EXTERNAL EXTRACT FALSE FIELDS FILE FILEFORMAT FILES FIRST FLOAT FLOOR FOLLOWING FOR FOREIGN
    FORMAT FORMATTED FROM FULL FUNCTION FUNCTIONS GRANT GROUP GROUPING HANDOFF HAVING HOUR ICEBERG IF IN INGESTION
    INGESTIONS INNER INPATH INPUTFORMAT INSERT INT INTEGER INTERSECT INTERVAL INTO IS ITEMS JAR JARS JOB JOBS JOIN
    JOINCOST JSONFILE KEEP KEY KEYS KILL LAST LATERAL LATEST LEFT LIKE LIMIT LINES LIST LOAD LOCAL LOCALLY LOCATION LOCK
    LOCKS LOGICAL MACRO MANAGED MANAGEDLOCATION MAP MATCHED MATERIALIZED MERGE METADATA MINUS MINUTE MONTH MSCK NORELY
    NOSCAN NOT NOVALIDATE NULL NULLS NUMERIC OF OFFSET OFFSETS OLDER ON ONLY OPERATOR OR ORC ORDER ORDERED ORPHAN OUTER
    OUTPUTFORMAT OVER OVERWRITE OWNER PARQUET PARTITION PARTITIONED PARTITIONS PAUSE PERCENT PRECEDING PRIMARY
    PRINCIPALS PROBLEMS PROPERTIES PURGE QUARTER RANGE REBUILD REDUCE REFERENCES REGEXP RELOAD RELY RENAME
    REOPTIMIZATION REPAIR REPLACE RESET RESTORE RESTRICT RESUME RETAIN REVOKE REWRITE RIGHT RLIKE ROLE ROLES ROLLBACK
    ROLLUP ROW ROWS RUN SCHEMA SCHEMAS SECOND SEGMENTS SELECT SEMI SERDE SERDEPROPERTIES SET SETS SHARED SHOW SKEWED
    SMALLINT SORT SORTED SOURCE SOURCES SPEC START STATE STATISTICS STOP STORED STREAM STREAMS STRING STRUCT SUMMARY
    SUPERVISOR SUSPEND SYNC TABLE TABLES TABLESAMPLE TASK TASKS TBLPROPERTIES TEMPORARY TERMINATED TEXTFILE THAN THEN
    TIERED TIME TIMESTAMP TIMESTAMPLOCALTZ TINYINT TO TOPIC TOPICS TOUCH TRANSACTIONAL TRANSACTIONS TRANSFORM TRUE
    TRUNCATE UNARCHIVE UNBOUNDED UNION UNIQUE UNLOCK UNSET UP UPDATE USE USER USING VALUES VARCHAR VECTORIZATION VERIFY
    VIEW VIEWS WAIT WEEK WHEN WHERE WINDOW WITH WRITE YEAR ZONE
""".split()  # noqa: SIM905 - a list of words reads better as words
"""The keywords of the grammar (`grammar/hive_statements.lark`); a test compares them."""


@dataclass(frozen=True)
class Candidate:
    """A completion: the `text` to insert, what the menu shows in its place, its kind, and one line of help."""

    text: str
    kind: CandidateKind
    help: str = ""
    display: str = ""


def load() -> None:
    """Import and compute what the first completion needs."""
    statements()
    shown_kinds()
    functions()
    settings()
    properties()


@cache
def statements() -> tuple[Candidate, ...]:
    """The first words of statements."""
    from hivedruid.parser.commands import FIRST_WORDS

    return tuple(Candidate(word, "statement") for word in sorted(FIRST_WORDS))


@cache
def shown_kinds() -> tuple[Candidate, ...]:
    """What may follow SHOW."""
    from hivedruid.parser.utility import SHOW_KINDS

    return tuple(Candidate(words, "keyword") for words in SHOW_KINDS)


@cache
def keywords() -> tuple[Candidate, ...]:
    return tuple(Candidate(word, "keyword") for word in KEYWORDS)


@cache
def functions() -> tuple[Candidate, ...]:
    """The functions with their signatures."""
    from hivedruid.plan.function_help import HELP
    from hivedruid.plan.functions import ALIASES, FUNCTIONS, function_names

    found = []
    for name in filter(str.isidentifier, function_names()):
        canonical = ALIASES.get(name, name)
        function = FUNCTIONS.get(canonical)
        display = function.signature(name) if function else f"{name}(any)"
        found.append(Candidate(name, "function", HELP[canonical], display))
    return tuple(found)


@cache
def settings() -> tuple[Candidate, ...]:
    known = [Candidate(key, "setting", setting.doc) for key, setting in SETTINGS.items()]
    return (*known, *(Candidate(prefix, "setting", each.doc, each.key) for prefix, each in FAMILIES.items()))


@cache
def setting_values(key: str) -> tuple[Candidate, ...]:
    setting = SETTINGS.get(key)
    if setting is None:
        return ()
    if setting.type == "zone":
        from zoneinfo import available_timezones

        return tuple(Candidate(name, "value") for name in sorted(available_timezones()))
    return _values(setting.type, setting.values, setting.default)


@cache
def properties(kind: str = "") -> tuple[Candidate, ...]:
    """Properties of tables of a kind, or of all kinds. Those that have no effect come last."""
    found = [
        Candidate(item.key, "property", item.doc)
        for item in PROPERTIES.values()
        if item.section != "removed" and (not kind or kind in item.kinds)
    ]
    return tuple(sorted(found, key=lambda each: each.help.startswith(WITHOUT_EFFECT)))


@cache
def property_values(key: str) -> tuple[Candidate, ...]:
    item = PROPERTIES.get(key)
    if item is None:
        return ()
    return _values(item.type, item.values or (GRANULARITIES if "Granularity" in key else ()), item.default or "")


@cache
def stream_properties() -> tuple[Candidate, ...]:
    from hivedruid.streams.properties import PROPERTIES as OF_STREAMS

    return tuple(Candidate(key, "property", each.doc) for key, each in OF_STREAMS.items())


@cache
def handlers() -> tuple[Candidate, ...]:
    """What STORED BY accepts."""
    from hivedruid.catalog.kinds import KINDS

    return tuple(Candidate(name, "value", kind.noun) for name, kind in KINDS.items() if kind.handler)


def _values(type_: str, allowed: Iterable[str], default: str) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(value, "value", "default" if value.lower() == default.lower() else "")
        for value in written_values(type_, allowed, default)
    )
