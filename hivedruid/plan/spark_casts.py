"""Casts as Spark SQL, where Spark differs from Hive. Pure: SQL in, SQL out."""

from __future__ import annotations

from hivedruid.catalog.types import INTERVAL_DAY_TIME, INTERVAL_YEAR_MONTH, HiveType, spark_type
from hivedruid.plan import literals
from hivedruid.plan.number_text import DECIMAL_TEXT, INTEGER_TEXT, TIME_BLANK
from hivedruid.plan.spark_text import quote_string


def matched_part(sql: str, pattern: str) -> str:
    """The date or timestamp in a string, with a four-digit year, as Spark's cast requires."""
    return f"regexp_replace(concat('000', regexp_extract({sql}, {quote_string(pattern)}, 1)), '^0*([0-9]{{4}}-)', '$1')"


def number_of_text(sql: str, to: HiveType) -> str:
    """Spark's cast accepts more strings than Hive's: other blanks and digits, `nan` and `inf`."""
    cast = f"CAST({sql} AS {spark_type(to)})"
    if to.is_approximate:
        return f"(CASE WHEN {sql} RLIKE {quote_string(_FOREIGN_DOUBLE_TEXT)} THEN NULL ELSE {cast} END)"
    shape = rf"^{INTEGER_TEXT if to.is_integer else DECIMAL_TEXT}\z"
    return f"(CASE WHEN {sql} RLIKE {quote_string(shape)} THEN {cast} END)"


_FOREIGN_DOUBLE_TEXT = rf"^{TIME_BLANK}*[+-]?(?!(?:NaN|Infinity){TIME_BLANK}*\z)(?i:nan|inf|infinity){TIME_BLANK}*\z"
"""Spark's other spellings of NaN and Infinity, which are NULL in Hive."""


def decimal_to_integer(sql: str, to: HiveType) -> str:
    """NULL if the integer part is out of range (UDFToInteger and similar)."""
    half = 1 << ({"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}[to.name] - 1)
    fits = f"{sql} > CAST('{-half - 1}' AS DECIMAL(20, 0)) AND {sql} < CAST('{half}' AS DECIMAL(20, 0))"
    return f"(CASE WHEN {fits} THEN CAST({sql} AS {spark_type(to)}) END)"


def decimal_text(sql: str, source: HiveType) -> str:
    """All digits of a decimal after the point; Spark writes numbers that begin with six zeros there as `1E-7`."""
    text, scale = f"CAST({sql} AS STRING)", source.params[1]
    if scale <= 6:
        return text
    digits = f"lpad(regexp_replace(substring_index({text}, 'E', 1), '[-.]', ''), {scale}, '0')"
    return f"IF({text} LIKE '%E%', concat(IF({sql} < 0, '-', ''), '0.', {digits}), {text})"


def interval_text(sql: str, source: HiveType) -> str:
    """The string of plan.literals.interval_text."""
    size = f"abs({sql})"
    if source == INTERVAL_YEAR_MONTH:
        sign, parts = (
            f"{sql} < make_ym_interval(0, 0)",
            [f"extract(YEAR FROM {size})", "'-'", f"extract(MONTH FROM {size})"],
        )
    else:
        clock = [f"lpad(CAST(extract({unit} FROM {size}) AS STRING), 2, '0')" for unit in ("HOUR", "MINUTE")]
        seconds = f"lpad(CAST(extract(SECOND FROM {size}) AS STRING), 9, '0')"
        sign = f"{sql} < make_dt_interval()"
        parts = [f"extract(DAY FROM {size})", "' '", clock[0], "':'", clock[1], "':'", seconds, "'000'"]
    return f"concat(IF({sign}, '-', ''), {', '.join(parts)})"


def text_interval(sql: str, to: HiveType) -> str:
    """A string as an interval, by the pattern of plan.literals.parse_interval_text; digits after the sixth are
    dropped.
    """
    pattern = f"^{literals.INTERVAL_TEXT}\\z"

    def part(group: int) -> str:
        return f"regexp_extract({sql}, {quote_string(_INTERVAL_PARTS[to])}, {group})"

    if to == INTERVAL_YEAR_MONTH:
        made = f"make_ym_interval(CAST({part(2)} AS INT), CAST({part(3)} AS INT))"
    else:
        whole = ", ".join(f"CAST({part(group)} AS INT)" for group in (2, 3, 4))
        made = f"make_dt_interval({whole}, CAST({part(5)} AS DECIMAL(8, 6)))"
    fits = f"{sql} RLIKE {quote_string(pattern)} AND CAST({part(2)} AS BIGINT) < {_INTERVAL_ROOM[to]}"
    return f"(CASE WHEN {fits} THEN CASE WHEN {part(1)} = '-' THEN - {made} ELSE {made} END END)"


_INTERVAL_PARTS = {
    INTERVAL_YEAR_MONTH: r"^\s*([+-]?)(\d+)-(\d+)\s*$",
    INTERVAL_DAY_TIME: r"^\s*([+-]?)(\d+) (\d+):(\d+):(\d+(?:[.]\d{1,6})?)",
}
"""Sign and parts of an interval string."""
_INTERVAL_ROOM = {INTERVAL_YEAR_MONTH: 178_956_970, INTERVAL_DAY_TIME: 106_751_991}
"""The years, and the days, that are out of range for Spark's intervals."""

INTERVAL_PLACES = {
    "year": ("make_ym_interval", 0),
    "month": ("make_ym_interval", 1),
    "day": ("make_dt_interval", 0),
    "hour": ("make_dt_interval", 1),
    "minute": ("make_dt_interval", 2),
    "second": ("make_dt_interval", 3),
}
"""INTERVAL (expression) unit: Spark's function, and the number of arguments before the number."""
