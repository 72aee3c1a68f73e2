"""Expressions over a table of edge values, for each function of local evaluation; `answers.json` contains Hive 4.0.1's
results.
"""

from __future__ import annotations

COLUMNS: dict[str, str] = {
    "id": "int", "i": "int", "j": "int", "l": "bigint", "k": "bigint", "t": "tinyint", "d": "double", "e": "double",
    "m": "decimal(10,2)", "n": "decimal(38,18)", "q": "decimal(12,4)", "s": "string", "u": "string", "x": "string",
    "b": "boolean", "c": "boolean", "a": "date", "z": "date", "ts": "timestamp",
}  # fmt: skip
ROWS: tuple[tuple[str | None, ...], ...] = (
    ("1", "7", "2", "9223372036854775807", "1", "127", "7.5", "2.5", "12345678.99", "12345678901234567890.123456789012345678", "1.5000", "Hello World", "12", "o", "true", "false", "2024-02-29", "2023-12-31", "2024-02-29 23:59:59.999"),
    ("2", "-7", "2", "-9223372036854775808", "-1", "-128", "-7.5", "2.0", "-0.01", "-0.000000000000000001", "-0.3333", "  trim me  ", "-3.7", " ", "false", "true", "2023-01-31", "2024-02-29", "2023-01-01 00:00:00"),
    ("3", "2147483647", "-3", "0", "7", "0", "0.0", "3.0", "0.00", "0.000000000000000000", "3.0000", "", "", "", "true", "true", "1999-12-31", "2000-01-01", "1999-12-31 12:30:15.5"),
    ("4", "-2147483648", "0", "1000", "0", "1", "0.1", "0.2", "99999999.99", "99999999999999999999.999999999999999999", "0.0000", "a_b%c\\d", "1e3", "_b", "false", "false", "2024-03-31", "2024-01-30", "2024-10-27 02:30:00"),
    ("5", None, "5", None, "3", None, None, "1.0", None, None, "2.5000", None, "abc", "x", None, "true", None, "2024-05-05", None),
    ("6", "3", None, "12", None, "5", "2.675", None, "2.68", "1.005000000000000000", None, "éÀ straße", None, None, "true", None, "2024-12-30", None, "2024-12-30 01:02:03.000001"),
    ("7", "100", "7", "123456789012", "1000", "50", "1.0E10", "3.3", "100.05", "0.333333333333333333", "3.0000", "the quick-brown\tfox", "0012", "quick", "false", None, "2025-01-05", "2025-01-01", "2025-01-05 06:07:08"),
    ("8", "-100", "7", "-5", "3", "-50", "-2.5", "0.5", "-2.50", "-0.500000000000000000", "0.1250", "日本語 text", "1.50", "本", "true", "false", "2024-06-30", "2024-07-31", "2024-06-30 18:00:00"),
)  # fmt: skip
"""None is NULL. Strings without characters that Hive's own table could not store."""


def _each(pattern: str, *names: str) -> list[str]:
    return [pattern.format(name) for name in names]


_NUMBERS = ("i", "l", "t", "d", "m", "n", "q")
EXPRESSIONS: tuple[str, ...] = (
    *[f"{a} {op} {b}" for op in ("+", "-", "*", "/", "%") for a, b in (
        ("i", "j"), ("l", "k"), ("t", "t"), ("i", "l"), ("d", "e"), ("i", "e"), ("d", "j"), ("m", "q"), ("m", "i"), ("q", "l"),
        ("n", "q"), ("n", "m"), ("m", "e"), ("i", "q"), ("m", "m"), ("n", "n"),
    )],
    *_each("{} * 100.0", "i", "l", "m", "n"), *_each("{} / 3.0", "i", "l", "m"),
    "i div nullif(j, 0)", "l div nullif(k, 0)", "t div nullif(j, 0)", "pmod(i, j)", "pmod(l, k)", "pmod(t, j)", "i & j", "i | j", "i ^ j", "l & k",
    *_each("-{}", *_NUMBERS), *_each("abs({})", *_NUMBERS), *_each("floor({})", *_NUMBERS), *_each("ceil({})", *_NUMBERS),
    *_each("sign({})", "d"), *_each("sqrt({})", "i", "d", "m"),
    *_each("round({})", *_NUMBERS), *_each("round({}, 1)", *_NUMBERS), *_each("round({}, 2)", *_NUMBERS), *_each("round({}, -1)", "i", "l", "d", "m", "q"),
    *[f"{a} {op} {b}" for op in ("=", "<>", "<", "<=", ">", ">=", "<=>") for a, b in (
        ("i", "j"), ("i", "l"), ("i", "d"), ("d", "e"), ("m", "q"), ("i", "q"), ("m", "d"), ("s", "x"), ("a", "z"), ("b", "c"), ("ts", "ts"),
    )],
    "not b", "b and c", "b or c", "b is null", "b is not null", "i in (7, -7, j)", "s in ('', 'Hello World')", "i not in (7, null)",
    "b is true", "b is false", "b is not true", "b is not false", "i between j and 100", "nullif(i, 7)", "coalesce(i, j, 0)", "coalesce(m, q)",
    "case when i > j then 'more' when i < j then 'less' end", "case b when true then i else l end", "if(b, m, q)", "if(b, i, d)",
    *[f"{f}({a}, {b})" for f in ("greatest", "least") for a, b in (("i", "j"), ("m", "q"), ("s", "x"), ("a", "z"))],
    *[f"cast({a} as {to})" for a in (*_NUMBERS, "b") for to in ("int", "bigint", "tinyint", "double", "string", "boolean") if (a, to) != ("n", "boolean")],
    *[f"cast({a} as decimal({p}))" for a in _NUMBERS for p in ("10,2", "5,1", "38,6", "20,0")],
    *_each("cast(u as {})", "int", "bigint", "tinyint", "double", "decimal(10,2)", "decimal(38,10)"),
    *[f"cast({a} as {to})" for a in ("a", "ts") for to in ("string", "date", "timestamp")],
    "upper(s)", "lower(s)", "initcap(s)", "concat(s, '-', u)", "concat_ws('/', s, u, x)", "length(s)", "reverse(s)",
    *_each("substr(s, {})", "1", "3", "-3", "0", "20", "-20"), *_each("substr(s, {})", "1, 3", "2, 0", "-4, 2", "0, 2", "3, 100", "j, 2"),
    "lpad(u, 5, '0')", "rpad(s, 4, 'xy')", "lpad(s, 3, '*')", "rpad(s, 14, '._')", "repeat(x, 3)", "trim(s)", "ltrim(s)", "rtrim(s)",
    "size(array(s, x, u))", "size(if(b, array(s), null))", "array(s, x)[0]", "if(b, array(s, x), null)[1]", "array(s, x, u)[2]", "array(s)[1]",
    "array_contains(array(s, x, u), 'o')", "array_contains(array(s, u), x)", "array_contains(if(b, array(s), null), '')", "not array_contains(array(x, u), s)",
    "replace(s, 'o', '0')", "replace(s, x, '#')", "instr(s, 'o')", "instr(s, x)", "locate('o', s)", "locate('o', s, 6)", "locate(x, s, 1)",
    *_each("s like '{}'", "%o%", "H_llo%", "%", "", "%\\\\_b%", "_", "%text"), *_each("s rlike '{}'", "o", "^H", "d$", "[a-c]_", "l+", "(quick|World)", "^$"),
    "regexp_replace(s, '[aeiou]', '*')", "regexp_replace(s, ' +', ' ')", "regexp_replace(u, '[0-9]+', 'n')",
    *[f"{f}({a})" for f in ("year", "quarter", "month", "weekofyear", "day", "dayofweek") for a in ("a", "ts")],
    *[f"{f}(ts)" for f in ("hour", "minute", "second", "to_date", "last_day")],
    *_each("floor_{}(ts)", "year", "quarter", "month", "week", "day", "hour", "minute", "second"),
    "date_add(a, 1)", "date_sub(a, 1)", "date_add(a, j)", "date_add(ts, 3)", "datediff(a, z)", "datediff(ts, a)", "add_months(a, 1)", "add_months(a, -1)",
    "add_months(a, j)", "last_day(a)", *_each("trunc(a, '{}')", "MM", "YYYY", "Q", "YEAR", "MON"), "trunc(ts, 'MM')",
    "a + interval '1' day", "a - interval '1' month", "ts + interval '1' day", "ts - interval '2' month", "ts + interval '1' hour", "ts - interval '90' minute",
    *_each("date_format(ts, '{}')", "yyyy-MM-dd", "yyyy-MM", "dd.MM.yy", "MMM d, yyyy", "EEEE", "EEE", "HH:mm:ss", "MMMM", "hh:mm a", "yyyyMMdd"),
    "date_format(a, 'yyyy-MM')", "date_format(a, 'E HH')", "from_unixtime(id * 86400)", "from_unixtime(k, 'yyyy/MM')", "unix_timestamp(ts)", "format_number(d, 2)", "format_number(l, 0)", "format_number(m, 1)",
    "space(id)", "months_between(a, z)", "next_day(a, 'MON')", "bround(d)", "ascii(s)", "hex(i)", "md5(s)", "substring_index(s, ' ', 1)", "elt(j, 'a', 'b')", "split(s, ' ')", "chr(t)", "quote(s)", "log10(l)", "power(d, 2)", "exp(e)", "ln(l)", "power(i, 0.5)",
)  # fmt: skip

_W = "FROM v ORDER BY id"
QUERIES: tuple[str, ...] = (
    f"SELECT id, row_number() OVER (ORDER BY j, id), rank() OVER (ORDER BY j), dense_rank() OVER (ORDER BY j), ntile(3) OVER (ORDER BY id) {_W}",
    f"SELECT id, percent_rank() OVER (ORDER BY j), cume_dist() OVER (ORDER BY j), rank() OVER (PARTITION BY b ORDER BY i DESC) {_W}",
    f"SELECT id, rank() OVER (ORDER BY i DESC NULLS LAST), rank() OVER (ORDER BY i NULLS FIRST), row_number() OVER (ORDER BY s, id) {_W}",
    f"SELECT id, sum(j) OVER (ORDER BY id), sum(j) OVER (ORDER BY j), sum(i) OVER (), count(*) OVER (PARTITION BY b), count(i) OVER (ORDER BY id) {_W}",
    f"SELECT id, avg(j) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW), max(m) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING), min(a) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) {_W}",
    f"SELECT id, sum(m) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING), avg(q) OVER (PARTITION BY b ORDER BY id), sum(d) OVER (ORDER BY id ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING) {_W}",
    f"SELECT id, lag(i) OVER (ORDER BY id), lag(i, 2, 0) OVER (ORDER BY id), lead(s) OVER (ORDER BY id), lead(j, 1, id) OVER (PARTITION BY b ORDER BY id) {_W}",
    f"SELECT id, first_value(s) OVER (ORDER BY id), last_value(s) OVER (ORDER BY id), first_value(i) OVER (PARTITION BY b ORDER BY id), last_value(j) OVER (ORDER BY j) {_W}",
    f"SELECT id, last_value(u) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING), first_value(u) OVER (ORDER BY id ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING), count(*) OVER (ORDER BY id ROWS 3 PRECEDING) {_W}",
    f"SELECT id, sum(j) OVER (ORDER BY j RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW), sum(j) OVER (ORDER BY j DESC RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) {_W}",
    "SELECT b, count(*), count(i), sum(i), sum(l), sum(d), sum(m), sum(q), min(s), max(s), min(a), max(ts) FROM v GROUP BY b",
    "SELECT b, avg(i), avg(m), avg(q), count(DISTINCT j), sum(DISTINCT j), min(d), max(d) FROM v GROUP BY b",
    "SELECT count(*), sum(i), avg(q), max(s) FROM v WHERE id > 100",
    "SELECT b, c, count(*), grouping(b) FROM v GROUP BY b, c WITH ROLLUP",
    "SELECT DISTINCT b, c FROM v",
    "SELECT x.id, y.id FROM v x JOIN v y ON x.i = y.j",
    "SELECT x.id, y.id FROM v x LEFT JOIN v y ON x.j = y.j AND x.id < y.id",
    "SELECT x.id, y.id FROM v x FULL JOIN v y ON x.i = y.l",
    "SELECT x.id, y.id FROM v x LEFT JOIN v y ON x.i < y.j",
    "SELECT x.id FROM v x LEFT SEMI JOIN v y ON x.b = y.c",
    "SELECT j FROM v UNION SELECT i FROM v",
    "SELECT j FROM v INTERSECT SELECT i FROM v",
    "SELECT j FROM v EXCEPT SELECT i FROM v",
    "SELECT j FROM v INTERSECT ALL SELECT id FROM v",
    "SELECT j FROM v EXCEPT ALL SELECT id FROM v",
    "SELECT id, s FROM v ORDER BY s DESC, id",
    "SELECT id, q FROM v ORDER BY q, id DESC LIMIT 4 OFFSET 2",
    "SELECT id, w FROM v LATERAL VIEW explode(split(s, ' ')) t AS w",
    "SELECT id, p, w FROM v LATERAL VIEW posexplode(split(s, 'o')) t AS p, w",
    "SELECT id FROM v WHERE j > (SELECT avg(j) FROM v) ORDER BY id",
    "SELECT id FROM v WHERE i NOT IN (SELECT j FROM v WHERE j > 0) ORDER BY id",
)  # fmt: skip
