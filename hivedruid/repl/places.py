"""What a name at the cursor can mean: derived from the tokens of its statement, which may be incomplete."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Literal, NamedTuple

from hivedruid.lazy_dataclass import dataclass
from hivedruid.script import last_end

PlaceKind = Literal[
    "statement", "setting", "setting value", "property", "property value", "table", "view", "stream", "database",
    "show", "handler", "file", "column", "keyword", "none",
]  # fmt: skip

_TOKEN = re.compile(
    r"""
      (?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))
    | (?P<string>'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")
    | (?P<open>['"].*)
    | (?P<quoted>`[^`]*`?)
    | (?P<word>\w+)
    | (?P<sign>[(),.=;*])
    """,
    re.S | re.X,
)
_TABLE_WORDS = ("FROM", "JOIN", "INTO", "TABLE", "UPDATE", "OVERWRITE", "INGESTION", "PARTITIONS", "OFFSETS")
_AFTER: Mapping[str, PlaceKind] = {
    **dict.fromkeys(_TABLE_WORDS, "table"),
    "TBLPROPERTIES": "table",
    "VIEW": "view",
    "STREAM": "stream",
    "BATCHES": "stream",
    "CHECKPOINTS": "stream",
    "USE": "database",
    "DATABASE": "database",
    "SCHEMA": "database",
    "SHOW": "show",
    "EXPLAIN": "statement",
}
"""What follows a word, anywhere in a statement."""
_AFTER_FIRST: Mapping[str, PlaceKind] = {
    "DESCRIBE": "table",
    "DESC": "table",
    "RESET": "setting",
}
"""What follows the first word of a statement."""
_SHOWN_IN: Mapping[str, PlaceKind] = {
    "TABLES": "database",
    "VIEWS": "database",
    "MATERIALIZED": "database",
    "BATCHES": "stream",
    "CHECKPOINTS": "stream",
}
"""What follows IN, FROM or FOR in SHOW, by what is shown; otherwise a table."""
_CLAUSES = frozenset(
    """
    SELECT FROM JOIN ON WHERE GROUP HAVING ORDER SORT DISTRIBUTE CLUSTER LIMIT UNION WINDOW LATERAL SET VALUES
    """.split()  # noqa: SIM905 - a list of words reads better as words
)
_NOT_ALIASES = _CLAUSES | frozenset(
    """
    ADD AS ANTI CHANGE COLUMNS COMMENT COMPACT CROSS DROP EXCEPT EXECUTE FOR FULL IN INNER INTERSECT LEFT LIKE MINUS
    OUTER PARTITION REBUILD RENAME REPLACE RIGHT SEMI STORED TABLESAMPLE TBLPROPERTIES TO UNSET USING WITH
    """.split()  # noqa: SIM905 - a list of words reads better as words
)
"""Words after the name of a table that are not its alias."""
_FROM_OF_CALLS = ("EXTRACT", "TRIM", "SUBSTRING")
"""Calls with a FROM inside that names no table."""
_PROPERTY_LISTS = ("TBLPROPERTIES", "PROPERTIES")
_SETTING = re.compile(r"\s*(?:SET|RESET)\s+(?:-v\s+)?(?P<key>[\w.:]*)(?P<sign>\s*=\s*)?(?P<value>[^\s]*)$", re.I)


class Token(NamedTuple):
    """`word` is the text of an unquoted word in upper case, "" for other tokens."""

    kind: str
    text: str
    end: int
    word: str

    @property
    def name(self) -> str:
        """The name that it stands for, in lower case; "" for strings and signs."""
        return self.text.strip("`").lower() if self.kind in ("word", "quoted") else ""


@dataclass(frozen=True)
class Place:
    """The kind of name at the cursor. `prefix` is what is typed of it, `qualifier` the names before its point, `key`
    the property or setting whose value it is, `family` the word before the list of properties, `is_quoted` whether the
    cursor is in a string. `first` is the first word of the statement, `tables` are the tables that it names, by alias,
    `subqueries` those that WITH defines, `handler` is its STORED BY.
    """

    kind: PlaceKind
    prefix: str = ""
    qualifier: str = ""
    key: str = ""
    family: str = ""
    is_quoted: bool = False
    first: str = ""
    tables: Mapping[str, str] = field(default_factory=dict)
    subqueries: tuple[str, ...] = ()
    handler: str = ""


@dataclass
class _Level:
    """A pair of parentheses: the word before it, and the clause reached inside."""

    before: str
    clause: str = ""
    start: int = 0


def place(text: str, cursor: int) -> Place:
    """The place at an offset of a text, which may have several statements."""
    before = text[:cursor]
    start = last_end(before)
    if (match := _SETTING.match(text, start, cursor)) is not None:
        kind: PlaceKind = "setting value" if match["sign"] else "setting"
        first = before[start:].split()[0].upper()
        return Place(kind, match["value"] if match["sign"] else match["key"], key=match["key"], first=first)
    tokens = list(_tokens(text, start, cursor))
    if tokens and tokens[-1].kind == "comment" and tokens[-1].end == cursor and not before.endswith(("*/", "\n")):
        return Place("none")
    tokens = [token for token in tokens if token.kind != "comment"]
    prefix = quote = ""
    if tokens and tokens[-1].kind == "open":
        opened = tokens.pop().text
        prefix, quote = opened[1:], opened[0]
    elif tokens and tokens[-1].end == cursor and tokens[-1].kind in ("word", "quoted"):
        prefix = tokens.pop().text
    qualifier = ""
    while not quote and len(tokens) > 1 and tokens[-1].text == "." and tokens[-2].name:
        qualifier = f"{tokens[-2].name}.{qualifier}".rstrip(".")
        del tokens[-2:]
    found = _derived(tokens, is_quoted=bool(quote))
    if found.kind in ("property", "property value") and qualifier:  # a key without quotes
        prefix, qualifier = f"{qualifier}.{prefix}", ""
    first = tokens[0].word if tokens else ""
    rest = text.find(quote, cursor) + 1 if quote else cursor  # of a string, the part after the cursor is no SQL
    tokens += (token for token in _tokens(text, rest or len(text), len(text)) if token.kind != "comment")
    return Place(
        found.kind, prefix, qualifier, found.key, found.family, bool(quote), first, _tables(tokens),
        _subqueries(tokens), _handler(tokens),
    )  # fmt: skip


def _tokens(text: str, start: int, end: int) -> Iterator[Token]:
    """Up to the first `;` outside strings and comments."""
    for match in _TOKEN.finditer(text, start, end):
        if match[0] == ";":
            return
        kind, text_of = match.lastgroup or "", match[0]
        yield Token(kind, text_of, match.end(), text_of.upper() if kind == "word" else "")


def _derived(tokens: list[Token], *, is_quoted: bool) -> Place:
    """The place after complete tokens: its kind, key and family."""
    if not tokens:
        return Place("none" if is_quoted else "statement")
    level = _innermost(tokens)
    if level.before in _PROPERTY_LISTS and level.start:
        return _in_properties(tokens, level)
    last = tokens[-1]
    if last.word == "BY" and len(tokens) > 1 and tokens[-2].word == "STORED":
        return Place("handler")
    if is_quoted:
        return Place("file" if _is_item_of_from(tokens, level) else "none")
    named = tokens
    while named and named[-1].word in ("IF", "NOT", "EXISTS") and len(named) > 1:
        named = named[:-1]
    if (kind := _after(named, level)) is not None:
        return Place(kind)
    if last.text == "," and level.clause == "FROM":
        return Place("table")
    if level.clause == "FROM" and last.name and last.word not in _NOT_ALIASES:
        return Place("keyword")
    return Place("column")


def _is_item_of_from(tokens: list[Token], level: _Level) -> bool:
    """Whether a table follows, which a string names by its path."""
    last = tokens[-1]
    if last.word in ("FROM", "JOIN"):
        return level.before not in _FROM_OF_CALLS
    return (last.text == "," and level.clause == "FROM") or (len(tokens) == 1 and last.word in ("DESCRIBE", "DESC"))


def _after(named: list[Token], level: _Level) -> PlaceKind | None:
    """What the last word determines, None if it is no such word."""
    first, word = named[0].word, named[-1].word
    if first == "CREATE" and word in ("TABLE", "VIEW", "STREAM", "DATABASE", "SCHEMA"):
        return "none"
    if word == "FROM" and level.before in _FROM_OF_CALLS:
        return "column"
    if word in ("EXTENDED", "FORMATTED"):
        return "statement" if first == "EXPLAIN" else "table"
    if word == "VIEW" and len(named) > 1 and named[-2].word == "MATERIALIZED":
        return "table"
    if first == "SHOW" and word in ("IN", "FROM", "FOR") and len(named) > 2:
        return _SHOWN_IN.get(named[1].word, "table")
    if word == "LIKE" and first == "CREATE" and not level.start:
        return "table"
    return _AFTER_FIRST.get(word) if len(named) == 1 and word in _AFTER_FIRST else _AFTER.get(word)


def _in_properties(tokens: list[Token], level: _Level) -> Place:
    """A key after `(` and `,`, a value after `=`."""
    last = tokens[-1]
    if last.text in ("(", ","):
        return Place("property", family=level.before)
    if last.text == "=" and tokens[-2].kind == "string":
        return Place("property value", key=tokens[-2].text[1:-1], family=level.before)
    return Place("none")


def _innermost(tokens: list[Token]) -> _Level:
    levels = [_Level("")]
    for number, token in enumerate(tokens):
        if token.text == "(":
            levels.append(_Level(tokens[number - 1].word if number else "", start=number or 1))
        elif token.text == ")" and len(levels) > 1:
            levels.pop()
        elif token.word in _CLAUSES:
            levels[-1].clause = "FROM" if token.word == "JOIN" else token.word
    return levels[-1]


def _tables(tokens: list[Token]) -> dict[str, str]:
    """The tables that a statement names, `table` or `database.table`, by alias or name."""
    found: dict[str, str] = {}
    number, count = 0, len(tokens)
    in_from = False
    while number < count:
        token = tokens[number]
        number += 1
        word = token.word
        if not word and token.text != ",":
            continue
        if word in _CLAUSES:
            in_from = word in ("FROM", "JOIN")
        is_start = (word in _AFTER and _AFTER[word] in ("table", "view")) or (token.text == "," and in_from)
        is_call = number > 3 and tokens[number - 3].text == "(" and tokens[number - 4].word in _FROM_OF_CALLS
        if is_call or (not is_start and not (number == 1 and word in ("DESCRIBE", "DESC"))):
            continue
        while number < count and tokens[number].word in ("IF", "NOT", "EXISTS", "TABLE", "EXTENDED", "FORMATTED"):
            number += 1
        name, number = _name(tokens, number)
        if not name:
            continue
        if number < count and tokens[number].word == "AS":
            number += 1
        alias = tokens[number].name if number < count and tokens[number].word not in _NOT_ALIASES else ""
        found[alias or name.rpartition(".")[2]] = name
    return found


def _name(tokens: list[Token], number: int) -> tuple[str, int]:
    """The name at a position with its qualifier, and the position after it."""
    parts = []
    while number < len(tokens) and tokens[number].name and tokens[number].word not in _CLAUSES:
        parts.append(tokens[number].name)
        number += 1
        if number >= len(tokens) or tokens[number].text != ".":
            break
        number += 1
    return ".".join(parts), number


def _subqueries(tokens: list[Token]) -> tuple[str, ...]:
    """The names before AS ( that follow WITH or a comma."""
    if not any(token.word == "WITH" for token in tokens):
        return ()
    quads = zip(tokens, tokens[1:], tokens[2:], tokens[3:], strict=False)
    return tuple(
        name.name
        for before, name, as_, opened in quads
        if (before.word == "WITH" or before.text == ",") and name.name and as_.word == "AS" and opened.text == "("
    )


def _handler(tokens: list[Token]) -> str:
    """The string after STORED BY."""
    return next(
        (
            string.text[1:-1]
            for stored, by, string in zip(tokens, tokens[1:], tokens[2:], strict=False)
            if stored.word == "STORED" and by.word == "BY" and string.kind == "string"
        ),
        "",
    )
