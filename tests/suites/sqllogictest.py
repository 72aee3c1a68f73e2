"""SQLite's sqllogictest: records of statements and queries, whose rows are listed or are an MD5 digest.

The statements of a file run in SQLite, whose tables are copied whenever a query of the sample is reached: what the
files insert, update and delete is not to be translated. Queries are, token by token: their operators have the same
precedence in Hive.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from hashlib import md5
from pathlib import Path
from random import Random
from typing import Any

from tests.suites.cases import Case, Row, Table

ENGINE = "sqlite"
_TOKEN = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|[A-Za-z_]\w*|\d+\.\d*|\d+|\S|\s+")
_BY_ROW = re.compile(r"\b(coalesce|case|nullif|ifnull)\b", re.IGNORECASE)
_REAL = re.compile(r"\b(avg|total|real|float|double|decimal|numeric)\b|\d\.\d", re.IGNORECASE)
PER_FILE = 200
TYPE_BY_ROW = "in SQLite, the row decides whether a quotient is of integers"
OVERFLOW = "an INT of Hive overflows where SQLite has 64 bits"


@dataclass(frozen=True)
class Record:
    """A block of a file between empty lines: `head` are the words of its first line without conditions."""

    head: tuple[str, ...]
    body: str
    expected: tuple[str, ...] = ()
    line: int = 0

    @property
    def is_query(self) -> bool:
        return self.head[:1] == ("query",)


@dataclass(frozen=True)
class Values:
    """The values of a query: a letter for each column, the sort mode, the values or `N values hashing to DIGEST`."""

    types: str
    mode: str
    lines: tuple[str, ...]

    def matches(self, rows: Sequence[Row]) -> bool:
        if any(len(row) != len(self.types) for row in rows):
            return False
        values = self.rendered(rows)
        if len(self.lines) == 1 and (found := re.fullmatch(r"(\d+) values hashing to (\w+)", self.lines[0])):
            digest = md5("".join(f"{value}\n" for value in values).encode(), usedforsecurity=False).hexdigest()
            return (len(values), digest) == (int(found[1]), found[2])
        return values == list(self.lines)

    def rendered(self, rows: Sequence[Row]) -> list[str]:
        """The values in the order of the mode: of the query, of the rows, or each for itself."""
        texts = [[render(value, kind) for value, kind in zip(row, self.types, strict=True)] for row in rows]
        if self.mode == "rowsort":
            texts.sort(key=lambda row: [text.encode() for text in row])
        values = [text for row in texts for text in row]
        return sorted(values, key=str.encode) if self.mode == "valuesort" else values

    @property
    def text(self) -> str:
        return f"{self.types} {self.mode}\n" + "\n".join(self.lines[:40])


def render(value: Any, kind: str) -> str:
    """A value as sqllogictest prints it in a column of integers (I), reals (R) or texts (T)."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        value = int(value)
    if kind == "I":
        return str(_integer(value))
    if kind == "R":
        return f"{float(value):.3f}"
    text = f"{value:f}" if isinstance(value, Decimal) else str(value)
    return "".join(c if " " <= c <= "~" else "@" for c in text) or "(empty)"


def _integer(value: Any) -> int:
    if isinstance(value, str):
        found = re.match(r"\s*[+-]?\d+", value)
        return int(found[0]) if found else 0
    return int(value)


# --- files ----------------------------------------------------------------------------------------------------------


def records(text: str) -> Iterator[Record]:
    """The records that SQLite runs, up to its `halt`."""
    line = 1
    for block in text.replace("\r\n", "\n").split("\n\n"):
        if (record := _record(block, line)) is not None:
            if record.head[0] == "halt":
                return
            yield record
        line += block.count("\n") + 2


def _record(block: str, line: int) -> Record | None:
    lines = block.split("\n")
    for number, words in enumerate(text.partition("#")[0].split() for text in lines):
        if not words:
            continue
        if words[0] in ("onlyif", "skipif"):
            if (words[1] == ENGINE) != (words[0] == "onlyif"):
                return None
            continue
        body, _, values = "\n".join(lines[number + 1 :]).partition("\n----")
        return Record(tuple(words), body.strip(), tuple(values.split("\n")[1:]), line + number)
    return None


def cases(folder: Path, count: int, seed: int) -> Iterator[Case]:
    """A sample of `count` queries, at most PER_FILE of a file: to load the tables of a file takes longer than a query."""
    random = Random(seed)
    files = sorted(path for path in folder.rglob("*.test") if is_chosen(path))
    random.shuffle(files)
    for path in files:
        sample = list(_sample(path, str(path.relative_to(folder)), min(count, PER_FILE), random))
        count -= len(sample)
        yield from sample
        if not count:
            return


def is_chosen(path: Path) -> bool:
    """Whether a file has queries without changes between them, and SQL that is not of SQLite only."""
    return not {"index", "evidence"} & {parent.name for parent in path.parents}


def _sample(path: Path, name: str, quota: int, random: Random) -> Iterator[Case]:
    every = list(records(path.read_text(encoding="utf-8", errors="replace")))
    queries = [number for number, record in enumerate(every) if record.is_query]
    chosen = set(random.sample(queries, min(quota, len(queries))))
    state = State()
    for number, record in enumerate(every[: max(chosen, default=-1) + 1]):
        if record.head[0] == "statement":
            state.run(record.body)
        elif number in chosen:
            yield case(f"{name}:{record.line}", record, state)
    state.close()


def case(place: str, record: Record, state: State) -> Case:
    tables, views = state.copy()
    types, mode = record.head[1], record.head[2] if len(record.head) > 2 else "nosort"
    sql = hive_sql(record.body, state.reals)
    wide = re.sub(r"(?<![\w.'])(\d+)(?![\w.'])(?!.*\border\s+by\b)", r"\1L", sql, flags=re.IGNORECASE | re.DOTALL)
    is_by_row = "/" in sql and _BY_ROW.search(sql) and _REAL.search(sql)
    return Case(
        place, record.body, sql, Values(types, mode, record.expected), tables, views, (wide, OVERFLOW),
        TYPE_BY_ROW if is_by_row else "",
    )  # fmt: skip


# --- what the statements of a file have made ------------------------------------------------------------------------


class State:
    """The tables of a file, in SQLite."""

    def __init__(self) -> None:
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        self._tables: dict[str, Table] = {}
        self._copied: tuple[tuple[Table, ...], tuple[str, ...]] | None = None
        self.reals: frozenset[str] = frozenset()

    def close(self) -> None:
        self._connection.close()

    def run(self, sql: str) -> None:
        self._copied = None
        try:
            self._connection.execute(sql)
        except sqlite3.Error:
            return  # `statement error`

    def copy(self) -> tuple[tuple[Table, ...], tuple[str, ...]]:
        """The tables, and the views as Hive's statements; the same objects until the next statement."""
        if self._copied is None:
            listed = self._connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
            tables = tuple(self._table(name) for kind, name, _ in listed if kind == "table")
            self.reals = frozenset(c for table in tables for c, type_ in table.columns if type_ == "double")
            views = tuple(self._view(sql) for kind, _, sql in listed if kind == "view")
            self._copied = (tables, views)
        return self._copied

    def _table(self, name: str) -> Table:
        columns = self._connection.execute(f'PRAGMA table_info("{name}")').fetchall()
        rows = self._connection.execute(f'SELECT * FROM "{name}"').fetchall()
        table = Table(name.lower(), tuple((c[1].lower(), _hive_type(c[2])) for c in columns), tuple(rows))
        before = self._tables.get(name)
        if before is None or (before.columns, before.rows) != (table.columns, table.rows):
            self._tables[name] = table
        return self._tables[name]

    def _view(self, sql: str) -> str:
        return re.sub(r"(?i)^create\s+(temp\w*\s+)?view", "CREATE OR REPLACE VIEW", hive_sql(sql, self.reals))


def _hive_type(declared: str) -> str:
    """The type for SQLite's affinity. Its integers have 64 bits."""
    upper = declared.upper()
    if "INT" in upper:
        return "bigint"
    return "string" if re.search("CHAR|TEXT|CLOB", upper) or not upper else "double"


# --- translation ----------------------------------------------------------------------------------------------------


def hive_sql(sql: str, reals: frozenset[str] = frozenset()) -> str:
    """A query in Hive's dialect: a quotient of integers is DIV, a quoted name has backticks."""
    tokens = _TOKEN.findall(sql)
    return "".join(
        " DIV " if token == "/" and not _has_reals(tokens, place, reals) else _token(token)
        for place, token in enumerate(tokens)
    )


def _token(token: str) -> str:
    return f"`{token[1:-1].lower()}`" if token[0] == '"' else token


def _has_reals(tokens: Sequence[str], place: int, reals: frozenset[str]) -> bool:
    """Whether an operand of a quotient, with everything in its parentheses, has a real number."""
    text = "".join([*_operand(tokens[place - 1 :: -1], ")", "("), " ", *_operand(tokens[place + 1 :], "(", ")")])
    names = {word.lower() for word in re.findall(r"[A-Za-z_]\w*", text)}
    return bool(_REAL.search(text) or names & reals)


def _operand(tokens: Sequence[str], opening: str, closing: str) -> list[str]:
    """The tokens up to the first comma, keyword, sum or parenthesis that is not of this operand; it may have signs."""
    signs, depth = True, 0
    operand: list[str] = []
    for token in tokens:
        depth += (token == opening) - (token == closing)
        if depth < 0 or (depth == 0 and (token == "," or token.upper() in _ENDS or (token in "+-" and not signs))):
            break
        signs = signs and (token in "+-" or token.isspace())
        operand.append(token)
    return operand if opening == "(" else operand[::-1]


_ENDS = frozenset(
    [
        "SELECT",
        "ALL",
        "DISTINCT",
        "FROM",
        "WHERE",
        "GROUP",
        "HAVING",
        "ORDER",
        "AND",
        "OR",
        "NOT",
        "AS",
        "ON",
        "WHEN",
        "THEN",
        "ELSE",
        "END",
        "IS",
        "IN",
        "BETWEEN",
        "=",
        "<",
        ">",
    ]
)
