"""Converts text in files to values of Hive types, as Spark SQL; shared by JSON lines and delimited text.

Spark reads both as lines of text; everything below is expressions over that text, so that Hive's rules for numbers,
timestamps and nulls apply, not those of Spark's readers. Pure: SQL in, SQL out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from itertools import count

from hivedruid.catalog.types import HiveType, spark_type
from hivedruid.lazy_dataclass import dataclass

_DAY = r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
_CLOCK = r"[0-9]{1,2}:[0-9]{1,2}(:[0-9]{1,2}([.][0-9]{1,9})?)?"
_ZONE = r"Z|[+-][0-9]{1,2}(:[0-9]{2})?|[A-Za-z][A-Za-z_+-]*(/[A-Za-z0-9_+-]+)*"

DATE_PATTERN = f"^{_DAY}([ T].*)?$"
TIMESTAMP_PATTERN = f"^{_DAY}([ T]{_CLOCK} ?({_ZONE})?)?$"
"""Valid timestamps: Hive's format and ISO 8601. Spark alone would also accept `now`, `2015` and `12:00`."""
ZONED_PATTERN = f"^{_DAY}[ T]{_CLOCK} ?({_ZONE})$"

INTEGER = r"^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)$"
_DECIMAL = r"^ *[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,2})? *$"
_OTHER_FLOAT = r"(?i)^[\x00- ]*[+-]?(?!(?-i:NaN|Infinity))(nan|inf|infinity)[\x00- ]*$"
_BASE64 = r"^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}(==)?|[A-Za-z0-9+/]{3}=?)?$"
DELIMITED_DATE = r"^ *((?!0+-)[0-9]{1,4}-[0-9]{1,2}-[0-9]{1,2})(?:[^0-9].*)?$"
DELIMITED_TIMESTAMP = (
    r"^ *((?!0+-)[0-9]{1,4}-[0-9]{1,2}-[0-9]{1,2}[ Tt][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:[.][0-9]{1,9})?) *$"
)
"""Times as LazySimpleSerDe reads them, from the year 1 to 9999."""
_USUAL_DATE = "^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}$"
_USUAL_TIMESTAMP = "^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?$"
"""The usual forms of these times, which Spark's cast reads by itself, several times as fast."""

_JSON_OPTIONS = "map('allowSingleQuotes', 'false', 'allowNonNumericNumbers', 'false')"


def literal(text: str) -> str:
    """A Spark SQL string literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def identifier(name: str) -> str:
    """A Spark SQL name in backquotes."""
    return "`" + name.replace("`", "``") + "`"


def json_object(text: str, values: str = "STRING") -> str:
    """A JSON object as MAP<STRING, values>, keys in lower case; null if the text does not begin with an object.

    As in JsonSerDe, fields match columns regardless of case, the last of several equal fields counts, and text after
    the object is ignored. VARIANT values keep all digits of a decimal; STRING loses those after the seventeenth.
    """
    parsed = f"from_json({text}, 'MAP<STRING, {values}>', {_JSON_OPTIONS})"
    return f"transform_keys({parsed}, (k, v) -> lower(k))"


@dataclass(frozen=True)
class CellFormat:
    """The text format of values.

    `separators` divide the elements of nested values, outermost first (LazySimpleSerDe's levels); none means JSON.
    `zone` is that of `timestamp with local time zone` text without a zone. `timestamp_formats` are the SerDe property
    `timestamp.formats`: patterns tried before the usual forms, `millis` for milliseconds since the epoch.
    """

    zone: str = "UTC"
    timestamp_formats: tuple[str, ...] = ()
    separators: tuple[str, ...] = ()
    escape: str | None = None
    null: str | None = None
    _names: Iterator[int] = field(default_factory=count, compare=False)

    @property
    def is_json(self) -> bool:
        return not self.separators

    def name(self) -> str:
        """A unique name for a lambda variable."""
        return f"x{next(self._names)}"


def value(text: str, hive: HiveType, form: CellFormat, level: int = 0) -> str:
    """The value of type `hive` represented by `text`; null if the text is not valid."""
    if hive.name in _PARSERS:
        return _PARSERS[hive.name](text, hive, form)
    if hive.children:
        return _json_nested(text, hive, form) if form.is_json else _delimited_nested(text, hive, form, level)
    return f"CAST({text} AS {spark_type(hive)})"


def misfit(text: str, parsed: str, hive: HiveType, form: CellFormat) -> str | None:
    """SQL that tests whether JSON `text`, whose value is `parsed`, is invalid for the type; None if every text is
    valid."""
    if hive.is_string:
        return None
    bad = f"{text} IS NOT NULL AND {parsed} IS NULL"
    if hive.name == "array":
        x = form.name()
        inner = misfit(x, value(x, hive.children[0], form), hive.children[0], form)
        if inner:
            bad += f" OR exists(from_json({text}, 'ARRAY<STRING>'), {x} -> {inner})"
    if hive.name == "map":
        x = form.name()
        for part, child in zip(("map_keys", "map_values"), hive.children, strict=True):
            if inner := misfit(x, value(x, child, form), child, form):
                bad += f" OR exists({part}(from_json({text}, 'MAP<STRING, STRING>')), {x} -> {inner})"
    if hive.name == "struct":
        x = form.name()
        members = [
            misfit(f"{x}[{literal(name.lower())}]", value(f"{x}[{literal(name.lower())}]", child, form), child, form)
            for name, child in zip(hive.fields, hive.children, strict=True)
        ]
        inner = " OR ".join(f"({member})" for member in members if member)
        if inner:
            bad += f" OR exists(array({json_object(text)}), {x} -> {inner})"
    return bad


def fit(expression: str, hive: HiveType) -> str:
    """A string truncated to the length of char(n) or varchar(n); Hive compares char without trailing blanks, so none
    are kept."""
    if hive.name == "varchar":
        return f"substr({expression}, 1, {hive.params[0]})"
    if hive.name == "char":
        return f"rtrim(substr({expression}, 1, {hive.params[0]}))"
    return expression


def _string(text: str, hive: HiveType, _form: CellFormat) -> str:
    return fit(text, hive)


def _integer(text: str, hive: HiveType, form: CellFormat) -> str:
    """Hive cuts off fractions; in JSON, a fraction other than zero is not valid. Delimited text has no blanks
    (LazyInteger)."""
    cast = f"CAST({text} AS {spark_type(hive)})"
    if form.is_json:
        return f"IF(contains({text}, '.') AND {text} RLIKE '[.]0*[1-9]', NULL, {cast})"
    is_usual = f"CAST({cast} AS STRING) = {text}"  # several times as fast as the pattern
    return f"IF({is_usual} OR {text} RLIKE {literal(INTEGER)}, {cast}, NULL)"


def _if_matches(text: str, pattern: str, parsed: str) -> str:
    return f"IF({text} RLIKE {literal(pattern)}, {parsed}, NULL)"


def _float(text: str, hive: HiveType, form: CellFormat) -> str:
    """As Java reads it: `NaN` and `Infinity` in that case only, where Spark's cast accepts others."""
    cast = f"CAST({text} AS {spark_type(hive)})"
    if form.is_json:
        return cast
    is_special = f"(isnan({cast}) OR abs({cast}) = CAST('Infinity' AS DOUBLE))"
    return f"IF({is_special} AND {text} RLIKE {literal(_OTHER_FLOAT)}, NULL, {cast})"


def _decimal(text: str, hive: HiveType, form: CellFormat) -> str:
    cast = f"CAST({text} AS {spark_type(hive)})"
    return cast if form.is_json else _if_matches(text, _DECIMAL, cast)


def _boolean(text: str, _hive: HiveType, _form: CellFormat) -> str:
    return f"CASE lower({text}) WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE END"


def _binary(text: str, _hive: HiveType, form: CellFormat) -> str:
    """Base64; LazyBinary uses other text unchanged."""
    decoded = f"try_to_binary({text}, 'base64')"
    return decoded if form.is_json else f"IF({text} RLIKE {literal(_BASE64)}, {decoded}, CAST({text} AS BINARY))"


def _date(text: str, _hive: HiveType, form: CellFormat) -> str:
    if not form.is_json:
        day = f"nullif(regexp_extract({text}, {literal(DELIMITED_DATE)}, 1), '')"
        usual = f"CAST({text} AS DATE)"
        return f"IF({text} RLIKE {literal(_USUAL_DATE)}, {usual}, CAST({_with_year(day)} AS DATE))"
    return f"IF({text} RLIKE {literal(DATE_PATTERN)}, CAST({text} AS DATE), NULL)"


def _timestamp(text: str, _hive: HiveType, form: CellFormat) -> str:
    """`timestamp` text with a zone is that instant in UTC: hivedruid keeps `timestamp` in UTC."""
    usual = f"IF({text} RLIKE {literal(TIMESTAMP_PATTERN)}, CAST({text} AS TIMESTAMP), NULL)"
    if not form.is_json:
        moment = f"nullif(regexp_extract({text}, {literal(DELIMITED_TIMESTAMP)}, 1), '')"
        other = f"CAST(upper({_with_year(moment)}) AS TIMESTAMP)"
        usual = f"IF({text} RLIKE {literal(_USUAL_TIMESTAMP)}, CAST({text} AS TIMESTAMP), {other})"
    return f"CAST({_first_of(text, usual, form)} AS TIMESTAMP_NTZ)"


def _with_year(moment: str) -> str:
    """The time with a year of four digits."""
    return f"lpad({moment}, length({moment}) + 5 - instr({moment}, '-'), '0')"


def _timestamp_ltz(text: str, _hive: HiveType, form: CellFormat) -> str:
    instant = f"CAST({text} AS TIMESTAMP)"
    local = f"to_utc_timestamp({instant}, {literal(form.zone)})"
    usual = (
        f"CASE WHEN {text} RLIKE {literal(ZONED_PATTERN)} THEN {instant} "
        f"WHEN {text} RLIKE {literal(TIMESTAMP_PATTERN)} THEN {local} END"
    )
    return _first_of(text, usual, form)


def _first_of(text: str, usual: str, form: CellFormat) -> str:
    """The result of the first matching format of `timestamp.formats`, otherwise of the default formats."""
    tried = [
        (
            f"timestamp_millis(CAST({text} AS BIGINT))"
            if pattern == "millis"
            else f"CAST(try_to_timestamp({text}, {literal(pattern)}) AS TIMESTAMP)"
        )
        for pattern in form.timestamp_formats
    ]
    return f"coalesce({', '.join([*tried, usual])})" if tried else usual


_PARSERS = {
    "string": _string,
    "varchar": _string,
    "char": _string,
    "tinyint": _integer,
    "smallint": _integer,
    "int": _integer,
    "bigint": _integer,
    "float": _float,
    "double": _float,
    "decimal": _decimal,
    "boolean": _boolean,
    "binary": _binary,
    "date": _date,
    "timestamp": _timestamp,
    "timestamp with local time zone": _timestamp_ltz,
}
"""Types whose text requires more than Spark's cast."""


def _json_nested(text: str, hive: HiveType, form: CellFormat) -> str:
    x = form.name()
    if hive.name == "array":
        return f"transform(from_json({text}, 'ARRAY<STRING>'), {x} -> {value(x, hive.children[0], form)})"
    if hive.name == "map":
        key, member = form.name(), form.name()
        parsed_key, entries = value(key, hive.children[0], form), f"from_json({text}, 'MAP<STRING, STRING>')"
        if not hive.children[0].is_string:  # Spark fails on a null key
            entries = f"map_filter({entries}, ({key}, {x}) -> {parsed_key} IS NOT NULL)"
        keys = f"transform_keys({entries}, ({key}, {x}) -> {parsed_key})"
        return f"transform_values({keys}, ({key}, {member}) -> {value(member, hive.children[1], form)})"
    members = ", ".join(
        f"{literal(name)}, {value(f'{x}[{literal(name.lower())}]', child, form)}"
        for name, child in zip(hive.fields, hive.children, strict=True)
    )
    # transform over a one-element array: SQL has no LET, and the object should be parsed once
    parsed = f"element_at(transform(array({json_object(text)}), {x} -> named_struct({members})), 1)"
    return f"IF({json_object(text)} IS NULL, NULL, {parsed})"


def _delimited_nested(text: str, hive: HiveType, form: CellFormat, level: int) -> str:
    """Elements by the separator of this level, map keys by the next (LazySimpleSerDe). An empty string is an empty
    list."""
    x = form.name()
    parts = f"IF({text} = '', array(), {split_text(text, form.separators[level], form.escape)})"
    if hive.name == "array":
        return f"transform({parts}, {x} -> {_cell(x, hive.children[0], form, level + 1)})"
    if hive.name == "map":
        name = f"element_at({split_text(x, form.separators[level + 1], form.escape)}, 1)"
        rest = f"IF(length({name}) < length({x}), substr({x}, length({name}) + 2), NULL)"
        key, member = (
            _cell(part, child, form, level + 2) for part, child in zip((name, rest), hive.children, strict=True)
        )
        entries = f"transform({parts}, {x} -> struct({key} AS key, {member} AS value))"
        e, y, n = form.name(), form.name(), form.name()
        is_first = f"array_position(transform({x}, {y} -> {y}.key), {e}.key) = {n} + 1"
        kept = f"filter({x}, ({e}, {n}) -> {e}.key IS NOT NULL AND {is_first})"
        return f"element_at(transform(array({entries}), {x} -> map_from_entries({kept})), 1)"
    members = ", ".join(
        f"{literal(name)}, {_cell(f'try_element_at({x}, {number})', child, form, level + 1)}"
        for number, (name, child) in enumerate(zip(hive.fields, hive.children, strict=True), start=1)
    )
    return f"IF({text} IS NULL, NULL, element_at(transform(array({parts}), {x} -> named_struct({members})), 1))"


def delimited_cell(text: str, hive: HiveType, form: CellFormat) -> str:
    """The value of one field of delimited text: applies the null format, then escapes, then the type."""
    return _cell(text, hive, form, 0)


def _cell(text: str, hive: HiveType, form: CellFormat, level: int) -> str:
    plain = text if hive.children else unescape(text, form.escape)
    parsed = value(plain, hive, form, level)
    return parsed if form.null is None else f"IF({text} = {literal(form.null)}, NULL, {parsed})"


def split_text(text: str, separator: str, escape: str | None) -> str:
    """The fields of `text`; a separator of one character after the escape character is part of the field."""
    if escape is None or len(separator) > 1:
        return f"split({text}, {literal(regex(separator))}, -1)"
    one, other = regex(separator), regex(escape)
    pattern = f"(?s){one}((?:{other}.?|[^{one}{other}])*)"
    return f"regexp_extract_all(concat({literal(separator)}, {text}), {literal(pattern)}, 1)"


def unescape(text: str, escape: str | None) -> str:
    """Text without its escape characters; `n` and `r` after one are line breaks
    (LazyUtils.copyAndEscapeStringDataToText)."""
    if escape is None:
        return text
    kept = "\uffff"  # temporary placeholder of an escaped escape character; text contains no noncharacters
    text = f"replace({text}, {literal(escape * 2)}, '{kept}')"
    text = f"replace(replace({text}, {literal(escape + 'n')}, '\\n'), {literal(escape + 'r')}, '\\r')"
    text = f"regexp_replace({text}, {literal(f'(?s){regex(escape)}(.)')}, '$1')"
    return f"replace({text}, '{kept}', {literal(escape)})"


def delimiter(serde: Mapping[str, str], key: str, default: str) -> str:
    """A delimiter as LazyUtils.getByte reads it: a number is a code, else the first character counts."""
    given = serde.get(key)
    if not given:
        return default
    if given.lstrip("-").isdigit() and -128 <= int(given) <= 127:
        return chr(int(given) % 256)
    if given[0] == "\\" and len(given) > 1:
        octal = given[1:4]
        named = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}
        return chr(int(octal, 8)) if octal.isdigit() else named.get(given[1], given[1])
    return given[0]


def regex(text: str) -> str:
    """A regular expression of exactly these characters."""
    return "".join(f"\\x{{{ord(character):x}}}" for character in text)
