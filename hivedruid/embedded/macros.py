"""DuckDB macros for conversions and functions that differ between Java and DuckDB, created when a query uses them."""

from __future__ import annotations

import re
from functools import cache

from hivedruid.embedded.coercion import JSON_MACROS

_NUMBER = r"[+-]?(NaN|Infinity|([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?)"
_HEX_NUMBER = r"[+-]?0[xX]([0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+[fFdD]?"

MACROS: dict[str, str] = {
    # BIGINT arithmetic that wraps as Java's does: computed in 128 bits, cut to 64. It uses its argument once, so that
    # the SQL of a chain of operators is as long as the chain.
    "druid_wrap(h)": """
        CAST(((h + 9223372036854775808) & CAST(18446744073709551615 AS HUGEINT)) - 9223372036854775808 AS BIGINT)""",
    "druid_divide(a, b)": "CASE WHEN b = -1 THEN druid_wrap(-CAST(a AS HUGEINT)) ELSE a // b END",
    "druid_modulo(a, b)": "CASE WHEN b = -1 THEN CASE WHEN a IS NOT NULL THEN 0 END ELSE a % b END",
    "druid_power(a, b)": """
        CASE WHEN a IS NULL OR b IS NULL THEN NULL
             WHEN b < 0 THEN error('exponent (' || b || ') must be >= 0')
             WHEN a = 0 OR a = 1 THEN CASE WHEN b = 0 THEN 1 ELSE a END
             WHEN a = -1 THEN CASE WHEN b % 2 = 0 THEN 1 ELSE -1 END
             ELSE list_reduce(list_resize([CAST(1 AS BIGINT)], b + 1, a),
                              lambda x, y: druid_wrap(CAST(x AS HUGEINT) * y)) END""",
    "druid_pad(n, width)": """
        CASE WHEN n < 0 THEN '-' ELSE '' END || lpad(CAST(abs(n) AS VARCHAR),
            CAST(greatest(width, length(CAST(abs(n) AS VARCHAR))) AS INTEGER), '0')""",
    "druid_floor_mod(a, n)": "((a % n) + n) % n",
    # Java's narrowing conversions: (long) x truncates and saturates, NaN is 0; (float) x overflows to infinity.
    "druid_double_to_long(x)": """
        CASE WHEN x IS NULL THEN NULL WHEN isnan(x) THEN 0 WHEN x >= 9223372036854775807 THEN 9223372036854775807
             WHEN x <= -9223372036854775808 THEN CAST('-9223372036854775808' AS BIGINT)
             ELSE CAST(trunc(x) AS BIGINT) END""",
    "druid_double_to_float(x)": """
        CASE WHEN isnan(x) THEN CAST('NaN' AS FLOAT)  -- first: for DuckDB it is greater than any number
             WHEN x > 3.4028235677973366e38 THEN CAST('Infinity' AS FLOAT)
             WHEN x < -3.4028235677973366e38 THEN CAST('-Infinity' AS FLOAT) ELSE CAST(x AS FLOAT) END""",
    # Numbers in strings: Guava's tryParse, plus 'true' and 'false'.
    # One-element lists implement LET: DuckDB expands an argument as often as a macro uses it.
    "druid_string_to_double(s)": f"""
        list_transform([s], lambda t: CASE WHEN regexp_full_match(t, '{_NUMBER}') THEN
                  CASE WHEN t LIKE '%y' OR t LIKE '%N' THEN CAST(ltrim(t, '+') AS DOUBLE)
                       ELSE TRY_CAST(rtrim(ltrim(t, '+'), 'fFdD') AS DOUBLE) END
             WHEN regexp_full_match(t, '{_HEX_NUMBER}') THEN druid_hex_to_double(t)
             WHEN lower(t) = 'true' THEN 1.0 WHEN lower(t) = 'false' THEN 0.0 END)[1]""",
    # 0x1.8p3: the digits as one whole number, times a power of two.
    "druid_hex_to_double(s)": r"""
        CASE WHEN starts_with(s, '-') THEN -1.0 ELSE 1.0 END
        * list_reduce(list_transform(
              string_split(lower(replace(regexp_extract(s, '0[xX]([0-9a-fA-F.]+)', 1), '.', '')), ''),
              lambda c: CAST(strpos('0123456789abcdef', c) - 1 AS DOUBLE)), lambda x, y: x * 16 + y)
        * pow(2.0, CAST(regexp_extract(s, '[pP]([+-]?[0-9]+)', 1) AS INTEGER)
                   - 4 * length(regexp_extract(s, '[.]([0-9a-fA-F]*)', 1)))""",
    "druid_string_to_long(s)": """
        list_transform([s], lambda u: CASE
             WHEN regexp_full_match(u, '[+-]?[0-9]+') AND TRY_CAST(u AS BIGINT) IS NOT NULL THEN TRY_CAST(u AS BIGINT)
             ELSE list_transform([druid_string_to_double(u)], lambda v: druid_double_to_long(v))[1] END)[1]""",
    # StringComparators.NUMERIC: what BigDecimal reads.
    "druid_comparable_number(s)": r"""
        CASE WHEN regexp_full_match(s, '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?')
             THEN TRY_CAST(s AS DOUBLE) END""",
    "druid_exact_long(s)": r"""
        CASE WHEN regexp_full_match(s, '[+-]?[0-9]+') THEN TRY_CAST(s AS BIGINT)
             WHEN regexp_full_match(s, '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?')
              AND trunc(TRY_CAST(s AS DOUBLE)) = TRY_CAST(s AS DOUBLE)
             THEN TRY_CAST(TRY_CAST(s AS DOUBLE) AS BIGINT) END""",
    # Double.toString: plain between 1e-3 and 1e7, else d.dddE±n with at least two digits (Double.MIN_VALUE has one).
    "druid_double_to_string(x)": """
        CASE WHEN x IS NULL THEN NULL WHEN isnan(x) THEN 'NaN'
             WHEN isinf(x) THEN CASE WHEN x > 0 THEN 'Infinity' ELSE '-Infinity' END
             WHEN x = 0 OR (abs(x) >= 0.001 AND abs(x) < 10000000) THEN CAST(x AS VARCHAR)
             WHEN abs(x) = CAST('5e-324' AS DOUBLE) THEN CASE WHEN x > 0 THEN '4.9E-324' ELSE '-4.9E-324' END
             ELSE druid_scientific(CAST(x AS VARCHAR)) END""",
    "druid_scientific(t)": """
        druid_scientific_parts(
            CASE WHEN starts_with(t, '-') THEN '-' ELSE '' END,
            split_part(ltrim(split_part(t, 'e', 1), '-'), '.', 1),
            split_part(ltrim(split_part(t, 'e', 1), '-'), '.', 2),
            CASE WHEN contains(t, 'e') THEN CAST(split_part(t, 'e', 2) AS INTEGER) ELSE 0 END)""",
    "druid_scientific_parts(sign, whole, fraction, power)": """
        sign || left(trim(whole || fraction, '0'), 1) || '.'
        || CASE WHEN length(trim(whole || fraction, '0')) > 1 THEN substring(trim(whole || fraction, '0'), 2)
                ELSE '0' END
        || 'E' || (power + length(whole) - 1
                   - (length(whole || fraction) - length(ltrim(whole || fraction, '0'))))""",
    # BigDecimal.valueOf(x).setScale(n, HALF_UP): rounds the shortest decimal text of the double, half away from zero.
    "druid_round_special(x, rounded)": """
        CASE WHEN x IS NULL THEN NULL WHEN isnan(x) THEN 0.0
             WHEN isinf(x) THEN CASE WHEN x > 0 THEN 1.7976931348623157e308 ELSE -1.7976931348623157e308 END
             WHEN abs(x) >= 1e15 THEN x ELSE rounded END""",
    "druid_remainder(x, y)": """
        CASE WHEN y = 0 OR isinf(x) THEN CAST('NaN' AS DOUBLE) WHEN isinf(y) THEN x
             ELSE x - y * round_even(x / y, 0) END""",
    "druid_cbrt(x)": "CASE WHEN round(cbrt(x)) ** 3 = x THEN round(cbrt(x)) ELSE cbrt(x) END",
    # Positions in a Java string count UTF-16 units: the same as characters where no character is beyond U+FFFF.
    "druid_plain(s)": r"(strlen(s) = length(s) OR NOT regexp_matches(s, '[\x{10000}-\x{10FFFF}]'))",
    "druid_strlen(s)": r"""
        CASE WHEN strlen(s) = length(s) THEN length(s)
             ELSE length(s) + length(regexp_replace(s, '[^\x{10000}-\x{10FFFF}]', '', 'g')) END""",
    "druid_units(s)": """
        flatten(list_transform(string_split(s, ''),
            lambda c: CASE WHEN c > chr(65535) THEN [c, chr(65535)] ELSE [c] END))""",
    # Half of a surrogate pair has no UTF-8: a question mark, as in Java.
    "druid_joined(units)": r"""
        replace(regexp_replace(regexp_replace(array_to_string(units, ''), '^\x{FFFF}', '?'),
                               '[\x{10000}-\x{10FFFF}]$', '?'), chr(65535), '')""",
    "druid_substring(s, a, b)": """
        CASE WHEN s IS NULL OR a IS NULL OR b IS NULL THEN NULL
             WHEN a >= druid_strlen(s) THEN NULL
             WHEN a < 0 THEN error('begin ' || a || ', length ' || druid_strlen(s))
             WHEN druid_plain(s) THEN CASE WHEN b < 0 THEN substring(s, a + 1) ELSE substring(s, a + 1, b) END
             ELSE druid_joined(list_slice(druid_units(s), a + 1,
                      CASE WHEN b < 0 THEN druid_strlen(s) ELSE a + b END)) END""",
    "druid_left(s, n)": """
        CASE WHEN n < 0 THEN error('Function[left] needs a positive integer as the second argument')
             WHEN s IS NULL OR n IS NULL THEN NULL WHEN n = 0 THEN ''
             WHEN druid_plain(s) THEN left(s, n)
             ELSE druid_joined(list_slice(druid_units(s), 1, n)) END""",
    "druid_right(s, n)": """
        CASE WHEN n < 0 THEN error('Function[right] needs a positive integer as the second argument')
             WHEN s IS NULL OR n IS NULL THEN NULL WHEN n = 0 THEN ''
             WHEN druid_plain(s) THEN right(s, n)
             ELSE druid_joined(list_slice(druid_units(s), greatest(druid_strlen(s) - n, 0) + 1,
                                          druid_strlen(s))) END""",
    "druid_strpos(s, x)": """
        CASE WHEN x = '' THEN CASE WHEN s IS NOT NULL THEN 0 END WHEN strpos(s, x) = 0 THEN -1
             WHEN strlen(s) = length(s) THEN strpos(s, x) - 1
             ELSE druid_strlen(left(s, strpos(s, x) - 1)) END""",
    "druid_strpos_from(s, x, i)": """
        CASE WHEN s IS NULL OR x IS NULL OR i IS NULL THEN NULL
             WHEN i <= 0 THEN druid_strpos(s, x)
             WHEN i >= druid_strlen(s) THEN CASE WHEN x = '' THEN druid_strlen(s) ELSE -1 END
             ELSE list_transform(list_transform([druid_substring(s, i, -1)], lambda t: druid_strpos(t, x)),
                                 lambda p: CASE WHEN p < 0 THEN -1 ELSE i + p END)[1] END""",
    "druid_lpad(s, n, p)": """
        CASE WHEN s IS NULL OR n IS NULL OR p IS NULL OR n = 0 THEN NULL WHEN n < 0 THEN ''
             WHEN n <= druid_strlen(s) THEN druid_left(s, n) WHEN p = '' THEN s
             ELSE druid_left(repeat(p, n), n - druid_strlen(s)) || s END""",
    "druid_rpad(s, n, p)": """
        CASE WHEN s IS NULL OR n IS NULL OR p IS NULL OR n = 0 THEN NULL WHEN n < 0 THEN ''
             WHEN n <= druid_strlen(s) THEN druid_left(s, n) WHEN p = '' THEN s
             ELSE s || druid_left(repeat(p, n), n - druid_strlen(s)) END""",
    "druid_reverse(s)": """
        CASE WHEN s = '' THEN '' ELSE array_to_string(list_reverse(string_split(s, '')), '') END""",
    "druid_replace(s, x, y)": """
        CASE WHEN x = '' AND s = '' THEN y
             WHEN x = '' THEN y || array_to_string(string_split(s, ''), y) || y ELSE replace(s, x, y) END""",
    # Java's full case mapping: a character may become several; a final sigma has its own lower case letter.
    "druid_upper(s)": """
        CASE WHEN strlen(s) = length(s) THEN upper(s) ELSE druid_upper_special(s) END""",
    "druid_upper_special(s)": """
        array_to_string(list_transform(string_split(s, ''),
            lambda c: CASE c {special_upper} ELSE upper(c) END), '')""",
    "druid_lower(s)": r"""
        CASE WHEN strlen(s) = length(s) THEN lower(s)
             ELSE lower(regexp_replace(replace(s, 'İ', 'i' || chr(775)), '(\pL)Σ(\PL|$)', '\1ς\2', 'g')) END""",
    # Wall clock of an instant, and back. Back: the offset that was in force at `original` wins where the wall time
    # is ambiguous, a skipped wall time moves forward (Joda-Time's convertLocalToUTC, not strict).
    "druid_local(t, zone)": "epoch_ms(timezone(zone, timezone('UTC', epoch_ms(t))))",
    "druid_instant(wall, zone, original)": """
        CASE WHEN druid_local(wall - (druid_local(original, zone) - original), zone) = wall
             THEN wall - (druid_local(original, zone) - original)
             ELSE epoch_ms(timezone(zone, epoch_ms(wall))) END""",
    # The same for a wall time from outside: of two instants the earlier one.
    "druid_instant_of(wall, zone)": """
        druid_instant(wall, zone, epoch_ms(timezone(zone, epoch_ms(wall))) - 10800000)""",
    "druid_add_months(wall, n)": "epoch_ms(epoch_ms(wall) + to_months(CAST(n AS INTEGER)))",
    # Months since 1970-01 of a wall clock time.
    "druid_month_index(wall)": "((year(epoch_ms(wall)) - 1970) * 12 + month(epoch_ms(wall)) - 1)",
    **JSON_MACROS,
}
"""Macro by signature; its body may use other macros."""

_CALL = re.compile(r"\bdruid_\w+(?=\()")
_BY_NAME = {signature.partition("(")[0]: signature for signature in MACROS}


def macros_for(sql: str) -> list[str]:
    """CREATE MACRO statements for the macros that a query uses, in the order of their dependencies."""
    wanted: dict[str, None] = {}

    def add(text: str) -> None:
        for name in _CALL.findall(text):
            if name not in wanted:
                body = MACROS[_BY_NAME[name]]
                add(body)
                wanted[name] = None

    add(sql)
    bodies = {name: MACROS[_BY_NAME[name]] for name in wanted}
    if "druid_upper_special" in bodies:
        bodies["druid_upper_special"] = bodies["druid_upper_special"].replace("{special_upper}", _special_upper())
    return [f"CREATE MACRO IF NOT EXISTS {_BY_NAME[name]} AS ({body})" for name, body in bodies.items()]


@cache
def _special_upper() -> str:
    """WHEN branches for the characters whose upper case is more than one character (Unicode's SpecialCasing)."""
    pairs = ((chr(code), chr(code).upper()) for code in range(0x80, 0x10000) if not 0xD800 <= code < 0xE000)
    return " ".join(f"WHEN '{low}' THEN '{high}'" for low, high in pairs if len(high) > 1)
