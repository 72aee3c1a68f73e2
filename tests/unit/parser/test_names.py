"""Names without backquotes: every word that Hive 4.0.1 does not reserve, at every place of a name.

The words and places are those of Hive's own parser (ParseDriver of hive-exec 4.0.1), which accepts each of the words as
alias, column, table and the like, and none of the reserved ones.
"""

from __future__ import annotations

import re

import pytest
from sqlglot import exp
from sqlglot.dialects.hive import Hive

from hivedruid.errors import ParseError
from hivedruid.parser.functions import called_name
from hivedruid.parser.statements import Query
from tests.unit.parser.parsing import one, refused

_KEYWORDS = """
    abort activate active add admin after alloc_fraction analyze archive asc ast at autocommit before branch
    bucket buckets cache cascade cbo change check cherry_pick cluster clustered clusterstatus collection columns
    comment compact compact_id compactions compute concatenate continue cost cron data databases dataconnector
    dataconnectors datetime day dbproperties dcproperties debug default deferred defined delimited dependency
    desc detail directories directory disable distribute distributed do dow dump enable enforced escaped every
    exclusive execute executed expire_snapshots explain export expression fast_forward fields file fileformat
    first format formatted functions hour idxproperties ignore index indexes inpath inputdriver inputformat
    isolation items jar joincost key keys kill last level limit lines load location lock locks logical long
    managed managedlocation management mapjoin mapping matched materialized metadata minute month move msck
    norely noscan novalidate nulls offset operator optimize option orphan_files outputdriver outputformat
    overwrite owner partitioned partitions path plan plans plus pool principals purge quarter query
    query_parallelism read rebuild recordreader recordwriter reload rely remote rename reoptimization repair
    repl replace replication resource respect restrict retain retention rewrite role roles scheduled
    scheduling_policy schema schemas second semi serde serdeproperties server set_current_snapshot sets shared
    show show_database skewed snapshot snapshots sort sorted spec ssl statistics status stored streamtable
    string struct summary system_time system_version tables tag tblproperties temporary terminated tinyint touch
    transaction transactional transactions trim type unarchive undo uniontype unknown unlock unmanaged unset
    unsigned uri url use utc utctimestamp validate vectorization view views wait week while within work workload
    write year zone
"""
_RESERVED = """
    all alter and any application array as authorization between bigint binary boolean both by case cast char
    column commit conf constraint convert create cross cube current current_date current_timestamp cursor
    database date ddl dec decimal delete describe distinct div double drop else end except exchange exists
    extended external extract false fetch float floor following for force foreign from full function grant group
    grouping having if import in inner insert int integer intersect interval into is join lateral leading left
    less like local macro map merge minus more none not null numeric of older on only or order out outer over
    partition percent pkfk_join preceding precision prepare preserve primary procedure qualify range reads real
    reduce references regexp revoke right rlike rollback rollup row rows select set smallint some start sync
    table tablesample than then time timestamp timestamplocaltz to trailing transform trigger true truncate
    unbounded union unique uniquejoin update user using values varchar when where window with
"""
_STATEMENTS = (
    """
    WITH {0} AS (SELECT 1 AS {0}), u AS (SELECT {0}, a FROM db.{0})
    SELECT {0}, a {0}, f(a) {0}, b AS {0}, {0}.a, t.{0}, s.t.{0}, - {0} + {0} * {0}, f({0}, {0}), {0}[0], t.{0}[0],
      CASE {0} WHEN {0} THEN {0} ELSE {0} END {0}, CAST({0} AS INT), {0} IS NOT NULL {0}, TRUE {0}, {0} {0},
      sum({0}) OVER {0}, count(*) OVER (PARTITION BY {0} ORDER BY {0}, {0} DESC) {0}
    FROM {0} JOIN {0}.{0} {0} ON {0} = {0} LEFT JOIN u {0} ON ({0}.a = b.{0})
    LATERAL VIEW explode({0}) {0} AS {0} LATERAL VIEW OUTER explode(x) {0}
    WHERE {0} > 1 AND NOT {0} = {0} AND b IN ({0}, 2) AND a BETWEEN {0} AND {0} OR {0} LIKE {0}
    GROUP BY {0}, {0}.a HAVING {0} < 1 WINDOW {0} AS (ORDER BY b) ORDER BY {0}, {0} DESC LIMIT 3
    """,
    "SELECT a FROM t {0}",
    "SELECT a {0} FROM t AS {0} WHERE a = {0}",
    "SELECT a, b {0}, c FROM t {0}, u {0} GROUP BY a ORDER BY {0}",
    "SELECT a FROM (SELECT b FROM u {0}) {0} JOIN (SELECT c AS {0} FROM {0} LIMIT 1) {0} ON b = c UNION ALL SELECT {0}",
    "FROM t {0} SELECT a {0} WHERE {0} ORDER BY {0} LIMIT 5",
    """
    WITH {0} (a, {0}) AS (SELECT 1, 2), u AS (SELECT 3), {0} (b) AS (FROM t SELECT f(a))
    SELECT {0}.a FROM (VALUES (1, 2)) AS {0} (a, {0}), TABLE (VALUES (2)) AS {0} ({0})
    """,
)
_COMMANDS = (
    "CREATE TABLE {0} (a INT, {0} STRUCT<{0}: INT>, b STRING) PARTITIONED BY ({0}_2 INT, {0} STRING)",
    "CREATE TABLE {0} ({0} INT)",
    "INSERT INTO {0} SELECT {0} FROM {0}",
    "INSERT INTO {0}.{0} PARTITION ({0} = '1') ({0}) SELECT a {0} FROM t {0}",
    "ALTER TABLE {0} ADD COLUMNS ({0} INT)",
    "UPDATE {0} SET {0} = 1 WHERE {0} = 2",
    "DELETE FROM {0} WHERE {0} = 2",
    "DROP TABLE {0}",
    "DESCRIBE {0}",
)


_WITH_PARENTHESES = ("pivot", "recursive", "serdeproperties", "unpivot")
"""Words that begin a clause of other dialects before a parenthesis; as names with a list of columns they are quoted."""


def _words() -> list[str]:
    """Hive's non-reserved keywords, and the words of sqlglot's grammar that Hive does not reserve."""
    parser = Hive.parser_class
    texts = [*Hive.tokenizer_class.KEYWORDS, *parser.NO_PAREN_FUNCTION_PARSERS, *parser.QUERY_MODIFIER_PARSERS]
    foreign = {word.lower() for text in texts for word in re.findall(r"[A-Za-z_]\w*", str(text))}
    return sorted((foreign | set(_KEYWORDS.split())) - set(_RESERVED.split()))


@pytest.mark.parametrize("text", _STATEMENTS, ids=range(len(_STATEMENTS)))
def test_every_word_that_hive_does_not_reserve_is_a_name_in_queries(text: str) -> None:
    expected = _tree(text, "zzz")
    others = {}
    for word in _words():
        if word == "natural" and "{0} JOIN" in text:
            continue  # NATURAL JOIN is refused: Hive would join all rows
        if word in _WITH_PARENTHESES and "{0} (" in text:
            continue
        try:
            tree = _tree(text, word)
        except ParseError as error:
            tree = str(error)
        if tree != expected:
            others[word] = tree
    assert not others


_OWN_SYNTAX = frozenset("ceil ceiling position substring trim try_cast".split())  # noqa: SIM905
"""Functions whose calls may contain words: trim(BOTH FROM a)."""
_CALLS = (
    "SELECT {0}(a, 1), - {0}(a) + {0}() x, CASE WHEN {0}(a) THEN {0}(a, b) ELSE {0}(1) END, other({0}(a), b) AS y FROM t "
    "WHERE {0}(a) > 1 AND NOT {0}(a, b) OR a BETWEEN {0}(1) AND {0}(2) GROUP BY {0}(a), b HAVING {0}(a) < 1 "
    "ORDER BY {0}(a), {0}(b) DESC"
)


def test_every_word_that_hive_does_not_reserve_is_a_name_of_a_function() -> None:
    functions = {name.lower() for name in (*Hive.parser_class.FUNCTIONS, *Hive.parser_class.FUNCTION_PARSERS)}
    words = ({*_words(), *functions, "if"} - set(_RESERVED.split())) | {"if"}
    expected = _called(_CALLS, "zzz")
    others = {}
    for word in sorted(words - _OWN_SYNTAX):
        try:
            calls = _called(_CALLS, word)
        except ParseError as error:
            calls = [(str(error), 0)]
        if calls != expected:
            others[word] = calls
    assert not others


@pytest.mark.parametrize(
    "word", ["and", "any", "case", "exists", "filter", "if", "in", "insert", "like", "or", "values"]
)
def test_a_quoted_word_is_a_name_of_a_function(word: str) -> None:
    assert _called(_CALLS, f"`{word}`") == _called(_CALLS, "zzz")


def _called(text: str, word: str) -> list[tuple[str, int]]:
    """The called functions with the numbers of their arguments, `zzz` for the word."""
    query = one(text.format(word))
    assert isinstance(query, Query)
    calls = list(query.expression.find_all(exp.Anonymous))
    names = ["zzz" if called_name(call) == word.strip("`") else called_name(call) for call in calls]
    return [(name, len(call.expressions)) for name, call in zip(names, calls, strict=True)]


def test_a_word_after_an_operand_is_no_call() -> None:
    (aggregate,) = one("SELECT count(*) FILTER (WHERE a > 1) FROM t").expression.selects
    assert isinstance(aggregate, exp.Filter)
    assert one("WITH u AS (SELECT 1), cache (c) AS (SELECT 2) SELECT c FROM cache").expression.ctes[1].alias == "cache"


def _tree(text: str, word: str) -> str:
    """The parsed query, with `zzz` for the word."""
    query = one(text.format(word))
    assert isinstance(query, Query)
    for name in query.expression.find_all(exp.Identifier):
        name.set("this", "zzz" if name.name.lower() == word else name.name)
        name.set("quoted", False)
    return query.expression.sql("hive")


@pytest.mark.parametrize("name", ["list", "`list`", "`array`", "t.list", "s.`array`.List", "f(a).list", "m['k'].list"])
def test_an_element_of_a_column_is_not_a_constructor(name: str) -> None:
    (element,) = one(f"SELECT {name}[7] FROM t").expression.selects
    (other,) = one(
        f"SELECT {name.replace('List', 'zzz').replace('list', 'zzz').replace('array', 'zzz')}[7] FROM t"
    ).expression.selects
    assert isinstance(element, exp.Bracket)
    assert [type(node) for node in element.walk()] == [type(node) for node in other.walk()]
    assert not any("$" in identifier.name for identifier in element.find_all(exp.Identifier))


@pytest.mark.parametrize("text", _COMMANDS)
def test_every_word_that_hive_does_not_reserve_is_a_name_in_commands(text: str) -> None:
    errors = {}
    for word in _words():
        try:
            one(text.format(word))
        except ParseError as error:
            errors[word] = str(error)
    assert not errors


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT a FROM t LIMIT x", "expected an integer, found 'x'"),
        ("SELECT a FROM t LIMIT 'x'", "expected an integer, found a string"),
        ("SELECT a FROM t LIMIT -1", "expected an integer, found '-'"),
        ("SELECT a FROM t ORDER BY limit 3", "unexpected '3'"),
        ("SELECT a FROM t LOCK IN SHARE MODE", "unexpected 'IN'"),
        ("SELECT a XOR b FROM t", "unexpected 'b'"),
        ("SELECT a FROM t STRAIGHT_JOIN u", "unexpected 'u'"),
    ],
)
def test_words_of_other_dialects_and_unfinished_clauses(text: str, message: str) -> None:
    assert refused(text).message == message
