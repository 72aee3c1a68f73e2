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


def quote_string(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_MARK, _WHOLE = "\uffff", "\ufffe"
_ASTRAL = r"[\x{10000}-\x{10FFFF}]"


def _marked(sql: str, rex: Rex) -> str:
    """The string with one character for each unit."""
    if isinstance(rex, Literal) and isinstance(rex.value, str) and rex.value.isascii():
        return sql
    return f"regexp_replace({sql}, {quote_string(f'({_ASTRAL})')}, '$1{_MARK}')"


def _unmarked(sql: str) -> str:
    """The original string, with a question mark for each character that was split.

    Whole characters get their marker in front, since Java looks only one unit behind.
    """
    moved = f"regexp_replace({sql}, {quote_string(f'({_ASTRAL}){_MARK}')}, '{_WHOLE}$1')"
    return f"replace(regexp_replace({moved}, {quote_string(f'(?<!{_WHOLE}){_ASTRAL}|{_MARK}')}, '?'), '{_WHOLE}', '')"


def _substring(s: SparkRex, rex: Call) -> str:
    """'' if the start is further left than the length of the string (UDFSubstr.makeIndex); Spark starts at the first
    character.
    """
    text, *places = (s._sql(a) for a in rex.args)
    marked, start = _marked(text, rex.args[0]), rex.args[1]
    result = _unmarked(f"substring({', '.join((marked, *places))})")
    if isinstance(start, Literal) and isinstance(start.value, int) and start.value >= 0:
        return result
    return f"(CASE WHEN {places[0]} < -length({marked}) THEN '' ELSE {result} END)"


def _pad(s: SparkRex, rex: Call) -> str:
    text, length, *fill = (s._sql(a) for a in rex.args)
    marked = [_marked(text, rex.args[0]), length, *(_marked(f, rex.args[2]) for f in fill)]
    return _unmarked(f"{rex.op}({', '.join(marked)})")


def _instr(s: SparkRex, rex: Call) -> str:
    text, sought = (_marked(s._sql(a), a) for a in rex.args)
    return f"instr({text}, {sought})"


def _locate(s: SparkRex, rex: Call) -> str:
    """The start counts units, the result characters."""
    sought, text, start = (s._sql(a) for a in rex.args)
    if start == "1":
        return f"locate({sought}, {text}, 1)"
    marked = _marked(text, rex.args[1])
    position = f"locate({_marked(sought, rex.args[0])}, {marked}, {start})"
    before = f"replace(substring({marked}, 1, {position} - 1), '{_MARK}', '')"
    return f"(CASE WHEN {position} = 0 THEN 0 ELSE length({before}) + 1 END)"


TEXTS: dict[str, Callable[[SparkRex, Call], str]] = {
    "substring": _substring,
    "lpad": _pad,
    "rpad": _pad,
    "instr": _instr,
    "locate": _locate,
}
