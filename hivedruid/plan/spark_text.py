"""Strings in Spark SQL with Java's positions: UTF-16 units, two for a character beyond U+FFFF.

Hive's substr, lpad, rpad and instr count units, and write half of such a character as a question mark; length, locate,
reverse and casts to varchar count characters, as Spark does. Here a marker after each such character represents its
second unit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivedruid.plan.rex import Call, Literal, Rex

if TYPE_CHECKING:
    from collections.abc import Callable

    from hivedruid.plan.spark_rex import SparkRex


def quote_identifier(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def let(name: str, value: str, body: str) -> str:
    """The body with a name for a value that it uses more than once."""
    return f"element_at(transform(array({value}), {name} -> {body}), 1)"


def written_once(name: str, value: str, body: Callable[[str], str]) -> str:
    """The body of a value, which it may use more than once: under a name if it is long, since nested calls would
    multiply it."""
    return body(value) if len(value) <= LONG else let(name, value, body(name))


def quote_string(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_MARK, _WHOLE = "\uffff", "\ufffe"
_ASTRAL = r"[\x{10000}-\x{10FFFF}]"
LONG = 100
"""Characters of SQL, about those of a function of a column."""


def _is_ascii(rex: Rex) -> bool:
    """Whether a string never has such characters."""
    if isinstance(rex, Literal):
        return isinstance(rex.value, str) and rex.value.isascii()
    if not isinstance(rex, Call):
        return False
    if rex.op == "cast":
        return not rex.args[0].type.is_string
    if rex.op == "date_format":
        return _is_ascii(rex.args[1])
    return rex.op in ("concat", "lpad") and all(_is_ascii(a) for a in rex.args if a.type.is_string)


def _marked(sql: str, rex: Rex) -> str:
    """The string with one character for each unit."""
    if _is_ascii(rex):
        return sql
    return f"regexp_replace({sql}, {quote_string(f'({_ASTRAL})')}, '$1{_MARK}')"


def _unmarked(sql: str) -> str:
    """The original string, with a question mark for each character that was split.

    Whole characters get their marker in front, since Java looks only one unit behind.
    """
    moved = f"regexp_replace({sql}, {quote_string(f'({_ASTRAL}){_MARK}')}, '{_WHOLE}$1')"
    return f"replace(regexp_replace({moved}, {quote_string(f'(?<!{_WHOLE}){_ASTRAL}|{_MARK}')}, '?'), '{_WHOLE}', '')"


def _quick(rex: Rex, text: str, exact: str, of_ascii: str) -> str:
    """The expression `of_ascii` for values of `text` with one byte per character, which have no such characters, and
    `exact` for others. A long text is written once, since nested calls would multiply it."""
    if _is_ascii(rex):
        return of_ascii
    if not rex.type.is_string or len(text) > LONG or exact == of_ascii:
        return exact
    return f"if(octet_length({text}) = char_length({text}), {of_ascii}, {exact})"


def _substring(s: SparkRex, rex: Call) -> str:
    """'' if the start is further left than the length of the string (UDFSubstr.makeIndex); Spark starts at the first
    character.
    """
    text, *places = (s._sql(a) for a in rex.args)
    start = rex.args[1]
    is_right = isinstance(start, Literal) and isinstance(start.value, int) and start.value >= 0

    def part_of(value: str, part: str) -> str:
        return part if is_right else f"(CASE WHEN {places[0]} < -length({value}) THEN '' ELSE {part} END)"

    plain = f"substring({', '.join((text, *places))})"
    marked = _marked(text, rex.args[0])
    exact = _unmarked(f"substring({', '.join((marked, *places))})")
    return _quick(rex.args[0], text, part_of(marked, exact), part_of(text, plain))


def _pad(s: SparkRex, rex: Call) -> str:
    text, length, *fill = (s._sql(a) for a in rex.args)
    fills = [_marked(f, rex.args[2]) for f in fill]
    exact = _unmarked(f"{rex.op}({', '.join((_marked(text, rex.args[0]), length, *fills))})")
    return _quick(rex.args[0], text, exact, f"{rex.op}({', '.join((text, length, *fill))})" if fills == fill else exact)


def _instr(s: SparkRex, rex: Call) -> str:
    text, sought = (s._sql(a) for a in rex.args)
    exact = f"instr({_marked(text, rex.args[0])}, {_marked(sought, rex.args[1])})"
    return _quick(rex.args[0], text, exact, f"instr({text}, {sought})")


def _locate(s: SparkRex, rex: Call) -> str:
    """The start counts units, the result characters."""
    sought, text, start = (s._sql(a) for a in rex.args)
    plain = f"locate({sought}, {text}, {start})"
    if start == "1":
        return plain
    marked = _marked(text, rex.args[1])
    position = f"locate({_marked(sought, rex.args[0])}, {marked}, {start})"
    before = f"replace(substring({marked}, 1, {position} - 1), '{_MARK}', '')"
    return _quick(rex.args[1], text, f"(CASE WHEN {position} = 0 THEN 0 ELSE length({before}) + 1 END)", plain)


TEXTS: dict[str, Callable[[SparkRex, Call], str]] = {
    "substring": _substring,
    "lpad": _pad,
    "rpad": _pad,
    "instr": _instr,
    "locate": _locate,
}
