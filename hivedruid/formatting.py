"""Formats scripts: indentation, blanks, line breaks before clauses, and upper-case keywords. Pure.

Only white space between tokens and the case of keywords change: `format_script` compares the tokens before and after,
and so does a test over all scripts of the repository. Line breaks inside a clause stay where they are, as with gofmt,
so that the layout of lists remains the author's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace

from hivedruid import script
from hivedruid.errors import PlanError
from hivedruid.lazy_dataclass import dataclass

WIDTH = 100
"""A statement on one line with more characters is divided before its clauses."""
SUBQUERY_WIDTH = 80
STEP = "  "

KEYWORDS = frozenset(
    """
    ALL ALTER AND AS ASC BETWEEN BY CASE CAST CREATE CROSS CUBE DELETE DESC DESCRIBE DISTINCT DROP ELSE END EXCEPT
    EXISTS EXPLAIN EXTERNAL FOLLOWING FROM FULL GROUP GROUPING HAVING IN INNER INSERT INTERSECT INTO IS JOIN LATERAL
    LEFT LIKE LIMIT MERGE NOT NULL NULLS OF ON OR ORDER OUTER OVER OVERWRITE PARTITION PARTITIONED PRECEDING RIGHT
    ROLLUP ROW ROWS SELECT SET SHOW STORED TABLE TBLPROPERTIES THEN UNBOUNDED UNION UPDATE USING VALUES VIEW WHEN
    WHERE WITH
    """.split()  # noqa: SIM905
)
"""Words that are written in upper case. Names of functions and types keep their case, and so do those after or before a
point."""
_ALSO_FUNCTIONS = frozenset({"LEFT", "RIGHT", "GROUPING", "CAST"})
"""Keywords that are functions before a parenthesis."""
_CLAUSES = frozenset(
    """
    CLUSTER CROSS DISTRIBUTE EXCEPT FROM FULL GROUP HAVING INNER INSERT INTERSECT JOIN LATERAL LEFT LIMIT MINUS ORDER
    RIGHT SELECT SORT UNION WHERE WINDOW
    """.split()  # noqa: SIM905
)
"""The first words of clauses of a query."""
_BEFORE_BY = frozenset({"CLUSTER", "DISTRIBUTE", "GROUP", "ORDER", "SORT"})
_BEFORE_JOIN = frozenset({"CROSS", "FULL", "INNER", "LEFT", "OUTER", "RIGHT", "SEMI", "ANTI"})
_QUERIES = frozenset({"SELECT", "WITH", "FROM"})
_TABLE_CLAUSES = frozenset({"STORED", "TBLPROPERTIES", "PARTITIONED", "LOCATION", "ROW", "AS", "COMMENT", "CLUSTERED"})
_VERBATIM = frozenset({"SET", "ADD", "SOURCE", "DFS", "RESET"})
"""First words of statements whose values are not made of tokens."""
_EXPLAIN = frozenset({"EXPLAIN", "EXTENDED", "FORMATTED", "CBO"})

_TOKEN = re.compile(
    r"""
    (?P<space>[\s\ufeff]+)
    |(?P<line>--[^\r\n]*)
    |(?P<block>/\*.*?\*/)
    |(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`]|``)*`)
    |(?P<variable>\$\{[^}$ ]+\})
    |(?P<escaped>\\.)
    |(?P<word>\w+)
    |(?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Token:
    """A token, and the white space before it: whether there is some, and the number of line ends."""

    kind: str
    text: str
    space: bool = False
    lines: int = 0
    end: int = 0
    is_keyword: bool = False

    @property
    def word(self) -> str:
        return self.text.upper() if self.kind == "word" else ""

    @property
    def is_comment(self) -> bool:
        return self.kind in ("line", "block")


@dataclass
class Group:
    """Tokens in parentheses, with the parentheses."""

    opening: Token
    items: list[Token | Group] = field(default_factory=list)
    closing: Token | None = None

    @property
    def is_query(self) -> bool:
        first = next((item for item in self.items if isinstance(item, Group) or not item.is_comment), None)
        return isinstance(first, Token) and first.word in _QUERIES


Item = Token | Group


def format_script(text: str, file: str | None = None) -> str:
    """The formatted script. Raises ParseError at an unterminated string, name or comment."""
    for _ in script.split(text, file):
        pass
    output = _Output()
    for statement in _statements(text):
        _write_statement(output, statement, text)
    formatted = "\n".join([*output.lines, ""]) if output.lines else ""
    if _significant(text) != _significant(formatted):
        raise PlanError("the formatted script would differ from the script in more than its layout")
    return formatted


def _significant(text: str) -> list[str]:
    """What must not change: the tokens, keywords in any case, and statements such as SET with their white space."""
    found: list[str] = []
    for statement in _statements(text):
        comments, body = _divided(statement)
        found += [comment.text.rstrip() for comment in comments]
        if _is_verbatim(body):
            found.append(_raw(body, text))
        else:
            found += [_shown(token) for token in body]
    return found


# --- reading ----------------------------------------------------------------------------------------------------------


def _statements(text: str) -> Iterator[list[Token]]:
    """The tokens of each statement with its `;`, and what follows the last one."""
    statement: list[Token] = []
    space, lines = False, 0
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if kind == "space":
            space, lines = True, match[0].count("\n")
            continue
        statement.append(Token(kind, match[0], space, lines, match.end()))
        space, lines = False, 0
        if match[0] == ";":
            yield _with_keywords(statement)
            statement = []
    if statement:
        yield _with_keywords(statement)


def _with_keywords(statement: list[Token]) -> list[Token]:
    """The tokens, with those marked that are keywords: not names after or before a point, and not functions."""
    solid = [number for number, token in enumerate(statement) if not token.is_comment]
    marked = list(statement)
    for place, number in enumerate(solid):
        token = statement[number]
        before = statement[solid[place - 1]].text if place else ""
        after = statement[solid[place + 1]].text if place + 1 < len(solid) else ""
        if _is_keyword(token.word, before, after.upper()):
            marked[number] = replace(token, is_keyword=True)
    return marked


def _is_keyword(word: str, before: str, after: str) -> bool:
    if word == "IF":  # it is also a function
        return after in ("NOT", "EXISTS")
    if word == "WITH" and after == "LOCAL":  # a part of a type
        return False
    return word in KEYWORDS and "." not in (before, after) and not (after == "(" and word in _ALSO_FUNCTIONS)


def _divided(statement: Sequence[Token]) -> tuple[Sequence[Token], Sequence[Token]]:
    """The comments before a statement, and the statement."""
    count = next((number for number, token in enumerate(statement) if not token.is_comment), len(statement))
    return statement[:count], statement[count:]


def _is_verbatim(body: Sequence[Token]) -> bool:
    return bool(body) and (body[0].word in _VERBATIM or body[0].text == "!")


def _raw(body: Sequence[Token], text: str) -> str:
    """The text of a statement as it is written, without `;`."""
    start = body[0].end - len(body[0].text)
    return text[start : body[-1].end].removesuffix(";").rstrip()


def _tree(tokens: Iterable[Token]) -> list[Item]:
    """The tokens, with those in parentheses as groups. A parenthesis without its other one stays a token."""
    levels: list[Group] = [Group(Token("", ""))]
    for token in tokens:
        if token.text == "(":
            levels.append(Group(token))
        elif token.text == ")" and len(levels) > 1:
            group = levels.pop()
            group.closing = token
            levels[-1].items.append(group)
        else:
            levels[-1].items.append(token)
    while len(levels) > 1:
        open_group = levels.pop()
        levels[-1].items += [open_group.opening, *open_group.items]
    return levels[0].items


def _first(item: Item) -> Token:
    return item.opening if isinstance(item, Group) else item


def _last(item: Item) -> Token:
    return item.closing or item.opening if isinstance(item, Group) else item


def _has_gap(previous: Token | None, token: Token) -> bool:
    """Whether a blank separates two tokens on one line."""
    return previous is not None and previous.text != "(" and token.text not in (")", ",", ";") and token.space


def _flat(items: Sequence[Item]) -> str:
    """The items on one line."""
    text, previous = "", None
    for item in items:
        text += " " if _has_gap(previous, _first(item)) else ""
        text += f"({_flat(item.items)})" if isinstance(item, Group) else _shown(item)
        previous = _last(item)
    return text


def _shown(token: Token) -> str:
    return token.word if token.is_keyword else token.text.rstrip() if token.kind == "line" else token.text


def _is_divided(items: Sequence[Item], width: int) -> bool:
    """Whether the items take several lines: they did so before, or they are too wide."""
    return (
        any(_first(item).lines for item in items[1:])
        or any(_has_lines(item) for item in items)
        or len(_flat(items)) > width
    )


def _has_lines(item: Item) -> bool:
    """Whether an item cannot be on one line."""
    if not isinstance(item, Group):
        return item.kind == "line" or (item.kind == "block" and "\n" in item.text)
    if item.is_query:
        return _is_divided(item.items, SUBQUERY_WIDTH)
    has_ends = any(_first(inner).lines for inner in item.items) or (item.closing is not None and item.closing.lines > 0)
    return has_ends or any(map(_has_lines, item.items))


# --- writing ----------------------------------------------------------------------------------------------------------


class _Output:
    """The lines of the formatted script."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def start(self, indent: int, *, blank: bool = False) -> None:
        """Begin a line, after an empty one if `blank`."""
        if blank and self.lines:
            self.lines.append("")
        self.lines.append(" " * indent)

    def add(self, text: str, *, space: bool = False) -> None:
        """Add text to the last line, after a blank if `space`."""
        line = self.lines.pop()
        self.lines += (line + (" " if space and line.strip() else "") + text).split("\n")

    @property
    def indent(self) -> int:
        """The indentation of the last line."""
        return len(self.lines[-1]) - len(self.lines[-1].lstrip(" "))


def _write_statement(output: _Output, statement: Sequence[Token], text: str) -> None:
    comments, body = _divided(statement)
    for comment in comments:
        if output.lines and not comment.lines:  # behind the statement before it
            output.add(_shown(comment), space=True)
        else:
            output.start(0, blank=comment.lines > 1)
            output.add(_shown(comment))
    if not body:
        return
    if not comments or comments[-1].kind == "line" or "\n" in comments[-1].text or body[0].lines:
        output.start(0, blank=body[0].lines > 1)
    if _is_verbatim(body):
        output.add(_raw(body, text) + (";" if body[-1].text == ";" else ""), space=True)
        return
    items = _tree(body)
    if _is_divided(items, WIDTH):
        _write(output, items, 0, is_query=_first(items[0]).word in _QUERIES)
    else:
        output.add(_flat(items), space=True)


def _write(output: _Output, items: Sequence[Item], indent: int, *, is_query: bool) -> None:
    """Items on several lines: clauses at `indent`, other lines one step further. A query begins with its first
    SELECT."""
    previous: Token | None = None
    follows_as = False
    for number, item in enumerate(items):
        token = _first(item)
        is_query = is_query or token.word == "SELECT"
        begins = _begins_clause(items, number, is_query=is_query)
        is_forced = begins and is_query and not token.is_comment and not follows_as
        is_first = previous is not None and (is_forced or _keeps_line_end(previous, token))
        if is_first:
            output.start(indent if begins else indent + len(STEP), blank=token.lines > 1)
        _write_item(output, item, space=number == 0 or _has_gap(previous, token))
        previous = _last(item)
        follows_as = is_first and token.word == "AS"


def _keeps_line_end(previous: Token, token: Token) -> bool:
    return previous.kind == "line" or (token.lines > 0 and token.text != ";")


def _write_item(output: _Output, item: Item, *, space: bool) -> None:
    if not isinstance(item, Group):
        output.add(_shown(item), space=space)
        return
    if not _has_lines(item):
        output.add(_flat([item]), space=space)
        return
    output.add("(", space=space)
    outer = output.indent
    inner = outer + len(STEP)
    if item.is_query:
        output.start(inner)
        _write(output, item.items, inner, is_query=True)
        output.start(outer)
    else:
        if _first(item.items[0]).lines if item.items else False:
            output.start(inner)
        _write(output, item.items, outer, is_query=False)
        assert item.closing is not None
        if item.closing.lines or (item.items and _last(item.items[-1]).kind == "line"):
            output.start(outer)
    output.add(")")


def _begins_clause(items: Sequence[Item], number: int, *, is_query: bool) -> bool:
    """Whether a line that begins with this item has the indentation of a clause. A comment has that of what follows."""
    token = _first(items[number])
    if token.is_comment:
        after = next((n for n in range(number, len(items)) if not _first(items[n]).is_comment), None)
        return after is not None and _begins_clause(items, after, is_query=is_query)
    if isinstance(items[number], Group):
        return False
    before = _last(items[number - 1]).word if number else ""
    following = _first(items[number + 1]) if number + 1 < len(items) else Token("", "")
    word = token.word
    if not is_query:
        return word in _TABLE_CLAUSES or word in _QUERIES
    if word not in _CLAUSES or "." in (following.text, _last(items[number - 1]).text if number else ""):
        return False
    if word in _BEFORE_BY:
        return following.word == "BY"
    if word == "JOIN":
        return before not in _BEFORE_JOIN
    if word in _BEFORE_JOIN:
        return following.word in _BEFORE_JOIN | {"JOIN"}
    if word in ("SELECT", "INSERT"):
        return before not in _EXPLAIN
    if word == "FROM":
        return before not in ("DISTINCT", "DELETE")
    return word != "LATERAL" or following.word == "VIEW"
