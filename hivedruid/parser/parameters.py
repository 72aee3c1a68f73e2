"""Parameters of statements: `?` and `:name` become literals of the dialect.

The placeholders are tokens, so `?` in a string, a quoted name or a comment is none. Each value is written as a literal
from its type; no text of a value is ever part of the statement outside of a string literal. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from numbers import Integral
from typing import Any, TypeAlias

from sqlglot import Token, TokenType

from hivedruid.cells import YearMonthInterval, day_time_text, year_month_text
from hivedruid.errors import UsageError
from hivedruid.java_numbers import double_text
from hivedruid.lazy_dataclass import dataclass
from hivedruid.parser.tokens import tokenize
from hivedruid.script import SourceStatement

Parameters: TypeAlias = "Sequence[Any] | Mapping[str, Any]"
"""Values for `?` in their order, or values by name for `:name`."""

_LONG = 2**63
_DIGITS = 38
"""The maximum precision of a decimal."""


def bind(statement: SourceStatement, parameters: Parameters) -> SourceStatement:
    """The statement with a literal for each placeholder; positions in errors are those of the statement as written.

    Raises UsageError if the values do not match the placeholders, or for a value that has no literal.
    """
    found = list(_placeholders(statement, isinstance(parameters, Mapping)))
    values = (
        _named(found, parameters, statement)
        if isinstance(parameters, Mapping)
        else _in_order(found, parameters, statement)
    )
    return _replaced(
        statement, found, [_text(value, place, statement) for value, place in zip(values, found, strict=True)]
    )


def with_rows(statement: SourceStatement, rows: Sequence[Sequence[Any]]) -> SourceStatement | None:
    """INSERT … VALUES (…) with the literals of all rows; None for other statements, which run once for each row."""
    tokens = tokenize(statement)
    values = next((n for n, token in enumerate(tokens) if token.token_type == TokenType.VALUES), None)
    if (
        values is None
        or not tokens
        or tokens[0].token_type != TokenType.INSERT
        or not _is_one_group(tokens[values + 1 :])
    ):
        return None
    start, end = tokens[values + 1].start, tokens[-1].end + 1
    if any(token.token_type == TokenType.PLACEHOLDER for token in tokens[:values]):
        return None
    group = statement.text[start:end]
    row = SourceStatement(group)
    written = ", ".join(bind(row, values).text for values in rows)
    places = list(statement.places) or [(i, i + 1) for i in range(len(statement.text))]
    original = statement.text if statement.original is None else statement.original
    whole = (places[start][0], places[end - 1][1])
    return replace(
        statement,
        text=statement.text[:start] + written + statement.text[end:],
        original=original,
        places=(*places[:start], *[whole] * len(written), *places[end:]),
    )


def _is_one_group(tokens: Sequence[Token]) -> bool:
    """Whether the tokens are one group in parentheses."""
    depth = 0
    for number, token in enumerate(tokens):
        depth += {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(token.token_type, 0)
        if depth == 0:
            return number > 0 and number == len(tokens) - 1
    return False


def literal(value: Any) -> str:
    """The literal of a Python value, or of a scalar of NumPy or pandas. Raises UsageError if there is none."""
    value = _without_numpy(value)
    for kind, write in _LITERALS:
        if isinstance(value, kind):
            return write(value)
    raise UsageError(
        f"a value of type {type(value).__name__} cannot be a parameter",
        hint="pass a number, string, date, datetime, bytes, list or dict, or str(value)",
    )


def _without_numpy(value: Any) -> Any:
    """The Python value of a number of NumPy; None for the NULL of pandas."""
    package, name = type(value).__module__.partition(".")[0], type(value).__name__
    if package == "pandas" and name in ("NaTType", "NAType"):
        return None
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    is_number = package == "numpy" and kind in ("b", "i", "u", "f") and getattr(value, "shape", None) == ()
    return value.item() if is_number else value


@dataclass(frozen=True)
class _Placeholder:
    start: int
    end: int
    name: str = ""


def _placeholders(statement: SourceStatement, has_names: bool) -> Iterator[_Placeholder]:
    tokens = tokenize(statement)
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.token_type == TokenType.PLACEHOLDER and not has_names:
            yield _Placeholder(token.start, token.end + 1)
        if token.token_type == TokenType.COLON and has_names and _is_name(statement.text, token, following):
            assert following is not None
            yield _Placeholder(token.start, following.end + 1, following.text)


def _is_name(text: str, colon: Token, following: Token | None) -> bool:
    """Whether a colon begins a parameter: a name follows at once, and no name or type precedes it at once, as in
    struct<a:int>."""
    if following is None or following.start != colon.end + 1 or not following.text.isidentifier():
        return False
    before = text[colon.start - 1] if colon.start else " "
    return not (before.isalnum() or before in "_`")


def _in_order(found: Sequence[_Placeholder], values: Sequence[Any], statement: SourceStatement) -> Sequence[Any]:
    if isinstance(values, str | bytes | bytearray) or not isinstance(values, Sequence):
        raise UsageError(
            "parameters must be a sequence of values or a mapping of names to values",
            hint="pass a list: [value]",
        )
    if len(found) != len(values):
        place = found[len(values)] if len(found) > len(values) else None
        raise UsageError(
            f"the number of values differs from the number of parameters: {len(values)} and {len(found)}",
            span=statement.span(place.start, place.end) if place else None,
            hint="pass a value for each ?",
        )
    return values


def _named(found: Sequence[_Placeholder], values: Mapping[str, Any], statement: SourceStatement) -> Sequence[Any]:
    for place in found:
        if place.name not in values:
            raise UsageError(
                f"there is no value for parameter :{place.name}", span=statement.span(place.start, place.end)
            )
    return [values[place.name] for place in found]


def _text(value: Any, place: _Placeholder, statement: SourceStatement) -> str:
    try:
        return literal(value)
    except UsageError as error:
        raise error.at(statement.span(place.start, place.end)) from None


def _replaced(statement: SourceStatement, found: Sequence[_Placeholder], texts: Sequence[str]) -> SourceStatement:
    if not found:
        return statement
    text, end = statement.text, 0
    places = list(statement.places) or [(i, i + 1) for i in range(len(text))]
    parts: list[str] = []
    moved: list[tuple[int, int]] = []
    for place, written in zip(found, texts, strict=True):
        spaced = _apart(text[place.start - 1 : place.start], written, text[place.end : place.end + 1])
        parts += (text[end : place.start], spaced)
        moved += places[end : place.start]
        moved += [(places[place.start][0], places[place.end - 1][1])] * len(spaced)
        end = place.end
    original = text if statement.original is None else statement.original
    return replace(statement, text="".join(parts) + text[end:], original=original, places=(*moved, *places[end:]))


def _apart(before: str, written: str, after: str) -> str:
    """The literal, with a blank where it would join a word, a string or a number beside it."""
    close = "_'\"`.?"
    left = " " if before.isalnum() or (before and before in close) else ""
    right = " " if after.isalnum() or (after and after in close) else ""
    return left + written + right


# --- literals ------------------------------------------------------------------------------------------------------


def _boolean(value: bool) -> str:
    return "TRUE" if value else "FALSE"


def _integer(value: Integral) -> str:
    number = int(value)
    if len(str(abs(number))) > _DIGITS:
        raise UsageError(f"the integer {number} has more than {_DIGITS} digits")
    if number == -_LONG:  # its digits alone are no bigint
        return f"CAST('{number}' AS BIGINT)"
    return _signed(str(abs(number)), number < 0)


def _signed(digits: str, is_negative: bool) -> str:
    """A number; a negative one in parentheses, since `-` and its sign would be a comment."""
    return f"(-{digits})" if is_negative else digits


def _decimal(value: Decimal) -> str:
    if not value.is_finite():
        raise UsageError(f"the decimal {value} is not a number")
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    scale = max(-exponent, 0)
    precision = max(len(digits) + max(exponent, 0), scale, 1)
    if precision > _DIGITS:
        raise UsageError(f"the decimal {value} has more than {_DIGITS} digits")
    return f"CAST('{value:f}' AS DECIMAL({precision},{scale}))"


def _double(value: float) -> str:
    number = float(value)
    if not math.isfinite(number):
        return f"CAST('{double_text(number)}' AS DOUBLE)"
    return _signed(f"{abs(number)!r}D", math.copysign(1, number) < 0)


_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0", "\x1a": "\\Z"})


def _string(value: str) -> str:
    return f"'{value.translate(_ESCAPES)}'"


def _binary(value: bytes | bytearray | memoryview) -> str:
    return f"unhex('{bytes(value).hex()}')"


def _moment(value: datetime) -> str:
    if value.tzinfo is None:
        return f"TIMESTAMP '{value.isoformat(' ')}'"
    return f"TIMESTAMPLOCALTZ '{value.astimezone(UTC).replace(tzinfo=None).isoformat(' ')} UTC'"


def _date(value: date) -> str:
    return f"DATE '{value.isoformat()}'"


def _day_time(value: timedelta) -> str:
    return f"INTERVAL '{day_time_text(value)}' DAY TO SECOND"


def _year_month(value: YearMonthInterval) -> str:
    return f"INTERVAL '{year_month_text(value)}' YEAR TO MONTH"


def _array(value: Iterable[Any]) -> str:
    return f"array({', '.join(map(literal, value))})"


def _map(value: Mapping[Any, Any]) -> str:
    return f"map({', '.join(literal(part) for pair in value.items() for part in pair)})"


_LITERALS: tuple[tuple[Any, Callable[[Any], str]], ...] = (
    (type(None), lambda _: "NULL"),
    (bool, _boolean),
    (Integral, _integer),
    (Decimal, _decimal),
    (float, _double),
    (str, _string),
    ((bytes, bytearray, memoryview), _binary),
    (datetime, _moment),
    (date, _date),
    (timedelta, _day_time),
    (YearMonthInterval, _year_month),
    ((list, tuple), _array),
    (Mapping, _map),
)
"""Types of values, the first that applies counts, and the function that writes a literal."""
