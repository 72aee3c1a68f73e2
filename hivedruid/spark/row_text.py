"""A row as the text that Hive's SerDes write: delimited text, CSV and JSON, as Spark SQL. Pure."""

from __future__ import annotations

from hivedruid.catalog.table import Table
from hivedruid.catalog.types import HiveType
from hivedruid.plan.spark_casts import decimal_text, interval_text
from hivedruid.plan.spark_strings import unbroken_base64
from hivedruid.spark.cells import CellFormat, identifier, literal
from hivedruid.spark.serde import csv_characters, delimited_format, is_csv, is_json

JSON_OPTIONS = {
    "ignoreNullFields": "true",
    "timestampFormat": "yyyy-MM-dd HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd HH:mm:ss.SSSSSS",
}
"""The JSON that Druid's tasks read."""
_ESCAPED_LEVELS = 8
"""The separators that LazySimpleSerDe escapes (LazySerDeParameters.collectSeparators)."""


def line(table: Table, zone: str = "UTC") -> str:
    """A row as one line of text in the format of the table's SerDe. `zone` is that of TIMESTAMP WITH LOCAL TIME
    ZONE."""
    if is_json(table):
        fields = [(c.field_name, _json(identifier(c.name), c.type, 1)) for c in table.columns]
        return _json_object(fields)
    form = CellFormat(zone)
    if is_csv(table):
        separator, quote, escape = csv_characters(table.effective_serde)
        doubles = quote == '"' and table.effective_serde.get("escapeChar", '"') == '"'
        texts = (_plain(identifier(c.name), c.type, form) for c in table.columns)
        cells = [_quoted(text, quote, escape, doubles=doubles) for text in texts]
        return f"concat_ws({literal(separator)}, {', '.join(cells)})"
    form = delimited_format(table, form)
    is_multi = table.serde.get("serialization.lib", "").endswith(".MultiDelimitSerDe")
    cells = [
        _null_as(f"CAST({identifier(column.name)} AS STRING)", form)
        if is_multi and column.type.name == "binary"
        else _text_cell(identifier(column.name), column.type, form, 1)
        for column in table.columns
    ]
    return f"concat_ws({literal(form.separators[0])}, {', '.join(cells)})"


def _quoted(text: str, quote: str, escape: str, *, doubles: bool) -> str:
    """A CSV field; OpenCSVSerde quotes every field and writes null as an empty field without quotes. Without another
    escape character it doubles quotes; a backslash is doubled as well, since it reads one as an escape character.
    """
    text = f"replace({text}, {literal(escape)}, {literal(escape * 2)})"
    if quote != escape:
        text = f"replace({text}, {literal(quote)}, {literal((quote if doubles else escape) + quote)})"
    return f"coalesce(concat({literal(quote)}, {text}, {literal(quote)}), '')"


def _plain(expression: str, hive: HiveType, form: CellFormat) -> str:
    """The text of a value that is not nested (LazyUtils.writePrimitiveUTF8); null for null."""
    match hive.name:
        case "binary":
            return f"rtrim('=', {unbroken_base64(expression)})"
        case "char":
            return f"rpad({expression}, {hive.params[0]}, ' ')"
        case "decimal":
            return decimal_text(expression, hive)
        case "timestamp with local time zone":
            return _zoned(expression, form.zone)
        case "interval_day_time" | "interval_year_month":
            return interval_text(expression, hive)
        case _:
            return f"CAST({expression} AS STRING)"


def _zoned(expression: str, zone: str) -> str:
    """With at least one fractional digit, and the name of the zone (TimestampTZ.FORMATTER). The second of two equal
    hours at the end of daylight saving time is in UTC: by the zone it would be the first one."""
    local = f"from_utc_timestamp({expression}, {literal(zone)})"
    is_first = f"to_utc_timestamp({local}, {literal(zone)}) = {expression}"
    text = f"CAST(IF({is_first}, {local}, {expression}) AS STRING)"
    return f"concat({text}, IF({text} LIKE '%.%', ' ', '.0 '), IF({is_first}, {literal(zone)}, 'UTC'))"


def _text_cell(expression: str, hive: HiveType, form: CellFormat, level: int) -> str:
    """A value as delimited text; elements of nested values are separated by the separator of their level."""
    x = f"x{level}"
    if hive.name == "array":
        cells = f"transform({expression}, {x} -> {_text_cell(x, hive.children[0], form, level + 1)})"
        text = f"array_join({cells}, {literal(form.separators[level])})"
    elif hive.name == "map":
        key = _text_cell(f"{x}.key", hive.children[0], form, level + 2)
        member = _text_cell(f"{x}.value", hive.children[1], form, level + 2)
        pair = f"concat({key}, {literal(form.separators[level + 1])}, {member})"
        text = f"array_join(transform(map_entries({expression}), {x} -> {pair}), {literal(form.separators[level])})"
    elif hive.name == "struct":
        cells = ", ".join(
            _text_cell(f"{expression}.{identifier(name)}", child, form, level + 1)
            for name, child in zip(hive.fields, hive.children, strict=True)
        )
        text = f"IF({expression} IS NULL, NULL, concat_ws({literal(form.separators[level])}, {cells}))"
    else:
        text = _plain(expression, hive, form)
        text = _escaped(text, form) if hive.is_string else text
    return _null_as(text, form)


def _null_as(text: str, form: CellFormat) -> str:
    return f"coalesce({text}, {literal(form.null or '')})"


def _escaped(text: str, form: CellFormat) -> str:
    """Escape separators and line breaks, if the table has an escape character. Hive leaves line breaks as they are
    without serialization.escape.crlf, and then reads two rows."""
    if form.escape is None:
        return text
    text = f"replace({text}, {literal(form.escape)}, {literal(form.escape * 2)})"
    for separator in form.separators[:_ESCAPED_LEVELS]:
        text = f"replace({text}, {literal(separator)}, {literal(form.escape + separator)})"
    text = f"replace({text}, '\\n', {literal(form.escape + 'n')})"
    return f"replace({text}, '\\r', {literal(form.escape + 'r')})"


# --- JSON (HiveJsonWriter) -----------------------------------------------------------------------------------------


def _json(expression: str, hive: HiveType, level: int) -> str:
    """A value as JSON; `null` for null."""
    x = f"x{level}"
    if hive.name == "array":
        items = f"transform({expression}, {x} -> {_json(x, hive.children[0], level + 1)})"
        text = f"concat('[', array_join({items}, ','), ']')"
    elif hive.name == "map":
        name = _json_string(_json_plain(f"{x}.key", hive.children[0]))
        pair = f"concat({name}, ':', {_json(f'{x}.value', hive.children[1], level + 1)})"
        text = f"concat('{{', array_join(transform(map_entries({expression}), {x} -> {pair}), ','), '}}')"
    elif hive.name == "struct":
        members = zip(hive.fields, hive.children, strict=True)
        fields = [(name, _json(f"{expression}.{identifier(name)}", child, level)) for name, child in members]
        text = f"IF({expression} IS NULL, NULL, {_json_object(fields)})"
    elif hive.is_integer or hive.name in ("decimal", "boolean"):
        text = _json_plain(expression, hive)
    elif hive.is_approximate:
        text = f"CAST({expression} AS STRING)"
        text = f"IF({text} IN ('NaN', 'Infinity', '-Infinity'), concat('\"', {text}, '\"'), {text})"
    else:
        text = _json_string(_json_plain(expression, hive))
    return f"coalesce({text}, 'null')"


def _json_object(fields: list[tuple[str, str]]) -> str:
    """An object with these fields, whose values are JSON."""
    parts = ", ',', ".join(f"{_json_string(literal(name))}, ':', {text}" for name, text in fields)
    return f"concat('{{', {parts}, '}}')"


def _json_plain(expression: str, hive: HiveType) -> str:
    """The text of a value that is not nested. Hive has no JSON for TIMESTAMP WITH LOCAL TIME ZONE: here it is in
    UTC."""
    match hive.name:
        case "decimal":
            text = f"CAST({expression} AS STRING)"
            small = f"regexp_replace(regexp_replace({text}, '0+E', 'E'), '[.]E', 'E')"
            usual = f"rtrim('.', rtrim('0', {text}))" if hive.params[1] else text
            return f"CASE WHEN {expression} = 0 THEN '0' WHEN {text} LIKE '%E%' THEN {small} ELSE {usual} END"
        case "binary":
            return unbroken_base64(expression)
        case "char":
            return f"rpad({expression}, {hive.params[0]}, ' ')"
        case "timestamp with local time zone":
            return f"date_format({expression}, {literal(JSON_OPTIONS['timestampFormat'])})"
        case _:
            return f"CAST({expression} AS STRING)"


def _json_string(text: str) -> str:
    """A JSON string, as Jackson writes it."""
    return f"substr(to_json(array({text})), 2, length(to_json(array({text}))) - 2)"
