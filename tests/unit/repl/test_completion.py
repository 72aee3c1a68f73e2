"""What completion offers at a place of a statement; `|` is the cursor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from hivedruid.catalog.functions import UserFunction, add_function
from hivedruid.catalog.opening import of_home
from hivedruid.catalog.types import STRING
from hivedruid.parser import parse
from hivedruid.plan.function_help import HELP
from hivedruid.plan.functions import ALIASES, FUNCTIONS
from hivedruid.repl import vocabulary
from hivedruid.repl.completion import Names, complete
from hivedruid.script import SourceStatement, split
from hivedruid.session import Session

SCRIPT = """
CREATE TABLE edits (page string, delta bigint, `user` string);
CREATE EXTERNAL TABLE wiki (`__time` timestamp, page string, added bigint) STORED BY 'druid';
CREATE VIEW popular AS SELECT page FROM edits;
CREATE DATABASE sales;
CREATE TABLE sales.orders (id bigint, price double);
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with Session(tmp_path_factory.mktemp("home")) as session:
        for statement in session.statements(SCRIPT):
            session.execute(statement)
        add_function(
            session.catalog, UserFunction("default", "cleaned", "texts.cleaned", "python", STRING, (STRING,), 1)
        )
        yield session


def offered(session: Session, marked: str) -> list[str]:
    cursor = marked.index("|")
    _, found = complete(marked.replace("|", "", 1), cursor, Names(session))
    return [each.text for each in found]


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("SELECT clea|", ["cleaned"]),
        ("SEL|", ["SELECT"]),
        ("SELECT 1; descr|", ["describe"]),
        ("SELECT ';' ; TRUN|", ["TRUNCATE"]),
        ("EXPLAIN SEL|", ["SELECT"]),
        ("SELECT * FROM |", ["edits", "popular", "wiki", "default", "sales"]),
        ("SELECT * FROM edits e JOIN w|", ["wiki"]),
        ("SELECT * FROM edits, w|", ["wiki"]),
        ("WITH recent AS (SELECT 1), rest AS (SELECT 2) SELECT * FROM re|", ["recent", "rest"]),
        ("SELECT * FROM sales.|", ["orders"]),
        ("SELECT * FROM sal|", ["sales"]),
        ("INSERT INTO TABLE ed|", ["edits"]),
        ("DROP TABLE IF EXISTS ed|", ["edits"]),
        ("CREATE TABLE ed|", []),
        ("CREATE TABLE x LIKE ed|", ["edits"]),
        ("DESCRIBE FORMATTED ed|", ["edits"]),
        ("DROP VIEW |", ["popular"]),
        ("USE s|", ["sales"]),
        ("SHOW TBLPROPERTIES w|", ["wiki"]),
        ("SHOW ARCHI|", ["ARCHIVES"]),
        ("SHOW M|", ["MATERIALIZED VIEWS"]),
        ("SHOW TABLES IN |", ["default", "sales"]),
        ("SHOW COLUMNS IN ed|", ["edits"]),
        ("SHOW TASKS FOR wi|", ["wiki"]),
        ("SHOW CHECKPOINTS FOR |", []),
        ("ALTER MATERIALIZED VIEW wi|", ["wiki"]),
        ("INSERT INTO edits (delt|", ["delta"]),
        ("DESCRIBE edits pag|", ["page"]),
        ("SELECT * FROM edits JOIN wiki USING (pag|", ["page"]),
        ("SELECT de| FROM edits", ["delta", "decode", "degrees", "dense_rank", "debug", "decimal", "defined", "delete", "delimited", "dependency", "desc", "describe", "detail"]),
        ("SELECT e.| FROM edits e", ["page", "delta", "user"]),
        ("SELECT o.pr| FROM edits e JOIN sales.orders AS o ON true", ["price"]),
        ("SELECT | FROM edits e", ["page", "delta", "user", "e"]),
        ("SELECT `__t| FROM wiki", ["`__time`"]),
        ("SELECT * FROM edits WHERE page = 'a' AND del|", ["delta", "delete", "delimited"]),
        ("SELECT * FROM edits WHERE page = 'del|", []),
        ("SELECT * FROM edits -- del|", []),
        ("UPDATE edits SET del|", ["delta", "delete", "delimited"]),
        ("SELECT * FROM edits ORDER BY delta DESC lim|", ["limit"]),
        ("SELECT EXTRACT(year FROM __t|) FROM wiki", ["`__time`"]),
        ("SET hive.local.t|", ["hive.local.time.zone"]),
        ("SET hive.local.time.zone=Europe/Ams|", ["Europe/Amsterdam"]),
        ("SET hive.exec.dynamic.partition.mode = |", ["strict", "nonstrict"]),
        ("SET hive.groupby.position.alias=t|", ["true"]),
        ("reset inges|", ["ingestion"]),
        ("RESET INGESTION wi|", ["wiki"]),
        ("CREATE EXTERNAL TABLE t (a int) STORED BY '|", ["druid", "kafka"]),
        ("CREATE EXTERNAL TABLE t (a int) STORED BY 'druid' TBLPROPERTIES ('druid.segment.g|", ["druid.segment.granularity"]),
        ("CREATE EXTERNAL TABLE t (a int) STORED BY 'druid' TBLPROPERTIES (druid.segment.g|", ["'druid.segment.granularity'"]),
        ("ALTER TABLE wiki SET TBLPROPERTIES ('a' = 'b', 'segment.gr|", ["druid.segment.granularity"]),
        ("ALTER TABLE wiki SET TBLPROPERTIES ('druid.segment.granularity' = 'DA|')", ["DAY"]),
        ("ALTER TABLE wiki SET TBLPROPERTIES ('external.table.purge' = |)", ["'true'", "'false'"]),
        ("ALTER TABLE edits SET TBLPROPERTIES ('druid.seg|", []),
        ("ALTER STREAM s SET PROPERTIES ('max.rejects.|", ["max.rejects.share"]),
    ],
)  # fmt: skip
def test_place(session: Session, marked: str, expected: list[str]) -> None:
    assert offered(session, marked) == expected


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("SELECT * FROM '|", ["logs/", "orders.csv", "other.json.gz"]),
        ("SELECT * FROM edits e JOIN 'or|'", ["orders.csv"]),
        ("SELECT * FROM edits, 'logs/|", ["logs/a.parquet"]),
        ("DESCRIBE 'lo|", ["logs/"]),
        ("SELECT * FROM 'none/|", []),
        ("SELECT * FROM edits WHERE page = 'o|", []),
        ("SELECT trim(BOTH FROM 'o|", []),
    ],
)
def test_files_in_quotes(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, marked: str, expected: list[str]
) -> None:
    (tmp_path / "logs").mkdir()
    for name in ("orders.csv", "other.json.gz", "notes.txt", ".hidden.csv", "logs/a.parquet"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    assert offered(session, marked) == expected


def test_no_text_fails(session: Session) -> None:
    """Every third prefix of the examples of the grammar, which has one for each production."""
    examples = Path(__file__).parents[3] / "grammar" / "hive_statements.q"
    names = Names(session)
    for statement in split(examples.read_text(encoding="utf-8")):
        for cursor in range(0, len(statement.text) + 1, 3):
            typed, _ = complete(statement.text, cursor, names)
            assert statement.text[:cursor].endswith(typed)
    assert (session._spark, session._cluster) == (None, None)


def test_a_catalog_that_cannot_be_read_has_no_names(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.close()
    assert offered(session, "SELECT * FROM |") == []
    assert offered(session, "SELECT lpa| FROM t") == ["lpad"]


def test_what_is_shown_can_be_parsed() -> None:
    arguments = {"COLUMNS": " IN t", "TASK": " 'id'", "CREATE DATABASE": " d", "TABLE EXTENDED": " LIKE 't'"}
    arguments["CONF"] = " 'a.b'"
    named = ("PARTITIONS", "CREATE TABLE", "TBLPROPERTIES", "OFFSETS", "BATCHES", "CHECKPOINTS")
    for kind in vocabulary.shown_kinds():
        argument = arguments.get(kind.text, " t" if kind.text in named else "")
        parse(SourceStatement(f"SHOW {kind.text}{argument}"))


def test_functions_have_signatures() -> None:
    shown = {each.text: each.display for each in vocabulary.functions()}
    assert shown["lpad"] == "lpad(text, int, text)"
    assert shown["trim"] == "trim(text[, text])"
    assert shown["regexp_extract"] == "regexp_extract(text, text[, int])"
    assert shown["concat"] == "concat(primitive, …)"
    assert shown["unix_timestamp"] == "unix_timestamp([time[, text]])"
    assert shown["substr"] == "substr(bytes, int[, int])"


def test_each_function_has_one_line_of_help() -> None:
    assert set(HELP) == set(FUNCTIONS) | (set(ALIASES.values()) - set(FUNCTIONS))
    helps = {each.text: each.help for each in vocabulary.functions()}
    assert helps["substr"] == HELP["substring"]
    assert max(map(len, HELP.values())) < 100


def test_keywords_are_those_of_the_grammar() -> None:
    grammar = Path(__file__).parents[3] / "grammar" / "hive_statements.lark"
    words = set(re.findall(r'"([A-Z]{2,})"i', grammar.read_text(encoding="utf-8")))
    functions = {"CURRENT_DATE", "CURRENT_TIMESTAMP"}  # functions that are written without parentheses
    assert set(vocabulary.KEYWORDS) == words | functions


def test_a_key_reads_no_table_again(session: Session) -> None:
    names = Names(session)
    text = "SELECT e.page, w.added FROM edits e JOIN wiki w ON e.page = w.page WHERE e.de"
    for end in range(len(text)):
        complete(text, end, names)
    queries: list[str] = []
    connection = of_home(session.catalog.connection)
    connection.set_trace_callback(queries.append)
    try:
        for end in range(len(text) - 10, len(text)):
            complete(text, end, names)
    finally:
        connection.set_trace_callback(None)
    assert queries == []
