"""Hive's hash() and murmur_hash() in Spark SQL: they use Java's hash codes, Spark's functions do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hivedruid.catalog.types import HiveType
from hivedruid.errors import UnsupportedError
from hivedruid.plan.rex import Call
from hivedruid.plan.spark_strings import Lower, signed_byte
from hivedruid.plan.spark_text import let

if TYPE_CHECKING:
    from hivedruid.plan.spark_rex import SparkRex

_MURMUR_SEED = 104729


def _of_bytes(binary: str, start: int) -> str:
    """31 * h + byte over the signed bytes of a binary."""
    step = f"h * 31 + {signed_byte('b', 'i')}"
    positions = "IF(length(b) = 0, CAST(array() AS ARRAY<INT>), sequence(1, length(b)))"
    return let("b", binary, f"aggregate({positions}, {start}, (h, i) -> {step})")


def _of_long(value: str) -> str:
    return let("v", value, "CAST(v ^ shiftrightunsigned(v, 32) AS INT)")


def _of_decimal(value: str, type_: HiveType) -> str:
    """31 times the hash of the unscaled number without its trailing zeros, plus the scale (BigDecimal)."""
    if not type_.params or type_.params[0] > 18:
        raise _refused("hash", type_)
    digits = f"regexp_replace(CAST({value} AS STRING), '[.]0*$|(?<=[.])([0-9]*[1-9])0+$', '$1')"
    unscaled = "CAST(replace(t, '.', '') AS BIGINT)"
    scale = "IF(instr(t, '.') = 0, 0, length(t) - instr(t, '.'))"
    of_abs = "CAST(shiftrightunsigned(abs(u), 32) AS INT) * 31 + CAST(abs(u) AS INT)"
    return let("t", digits, f"{let('u', unscaled, f'31 * IF(u < 0, -({of_abs}), {of_abs})')} + {scale}")


def _of_timestamp(value: str) -> str:
    """Seconds shifted by 30 bits, plus the nanoseconds (TimestampWritableV2)."""
    micros = f"unix_micros(CAST({value} AS TIMESTAMP))"
    packed = "shiftleft(CAST(floor(m / 1000000) AS BIGINT), 30) | CAST(pmod(m, 1000000) * 1000 AS BIGINT)"
    return let("m", micros, _of_long(packed))


def _hash_of(value: str, type_: HiveType) -> str:
    """The hash code of a value that is not NULL (ObjectInspectorUtils.hashCode)."""
    simple = _SIMPLE.get(type_.name)
    if simple is not None:
        return simple(value)
    if type_.name == "decimal":
        return _of_decimal(value, type_)
    if type_.name == "array":
        return f"aggregate({value}, 0, (h, e) -> h * 31 + {_hash('e', type_.children[0])})"
    if type_.name == "map":
        entry = f"({_hash('e.key', type_.children[0])} ^ {_hash('e.value', type_.children[1])})"
        return f"aggregate(map_entries({value}), 0, (h, e) -> h + {entry})"
    if type_.name == "struct":
        fields = zip(type_.fields, type_.children, strict=True)
        return _combined([_hash(f"{value}.`{name}`", child) for name, child in fields])
    raise _refused("hash", type_)


_SIMPLE: dict[str, Callable[[str], str]] = {
    "boolean": lambda v: f"CAST({v} AS INT)",
    **dict.fromkeys(("tinyint", "smallint", "int"), lambda v: f"CAST({v} AS INT)"),
    "bigint": _of_long,
    "string": lambda v: _of_bytes(f"CAST({v} AS BINARY)", 0),
    **dict.fromkeys(("varchar", "char"), lambda v: _of_bytes(f"CAST(rtrim({v}) AS BINARY)", 1)),
    "binary": lambda v: _of_bytes(v, 1),
    "date": lambda v: f"datediff({v}, DATE'1970-01-01')",
    "timestamp": _of_timestamp,
}


def _hash(value: str, type_: HiveType) -> str:
    return "0" if type_.name == "void" else f"coalesce({_hash_of(value, type_)}, 0)"


def _combined(parts: list[str]) -> str:
    text = "0"
    for number, part in enumerate(parts):
        text = part if number == 0 else f"(({text}) * 31 + {part})"
    return text


def _murmur_of(value: str, type_: HiveType) -> str:
    """Murmur3 of the bytes of a value, most significant first for numbers (ObjectInspectorUtils.hashCodeMurmur)."""
    widths = {"smallint": 4, "int": 8, "date": 8, "bigint": 16}
    if type_.name in ("boolean", "tinyint"):
        return f"CAST({value} AS INT)"
    if type_.name in widths:
        number = f"datediff({value}, DATE'1970-01-01')" if type_.name == "date" else value
        return _murmur3(f"right(lpad(hex(CAST({number} AS BIGINT)), 16, '0'), {widths[type_.name]})")
    if type_.name in ("string", "binary"):
        return _murmur3(f"hex({value})")
    raise _refused("murmur_hash", type_)


def _murmur3(hexadecimal: str) -> str:
    """Murmur3 (x86, 32 bits) of bytes given in hexadecimal."""
    block = "concat(substring(w, 7, 2), substring(w, 5, 2), substring(w, 3, 2), substring(w, 1, 2))"
    count = "length(x) div 8"
    blocks = f"IF(length(x) < 8, CAST(array() AS ARRAY<BIGINT>), sequence(1L, {count}))"
    mixed = _mixed(f"CAST(CAST(conv({block}, 16, 10) AS BIGINT) AS INT)")
    step = f"h ^ {let('w', 'substring(x, CAST(8 * i - 7 AS INT), 8)', mixed)}"
    rotated = let("g", step, f"(shiftleft(g, 13) | shiftrightunsigned(g, 19)) * 5 + {_int(0xE6546B64)}")
    body = f"aggregate({blocks}, {_MURMUR_SEED}, (h, i) -> {rotated})"
    rest = " ^ ".join(f"shiftleft({_signed(f'substring(w, {2 * i + 1}, 2)')}, {8 * i})" for i in range(3))
    tail = let("w", f"substring(x, CAST(8 * ({count}) + 1 AS INT))", _mixed(f"({rest})"))
    text = f"({body} ^ {tail} ^ CAST(length(x) div 2 AS INT))"
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, None)):
        text = let("f", text, f"(f ^ shiftrightunsigned(f, {shift})){f' * {_int(factor)}' if factor else ''}")
    return let("x", hexadecimal, text)


def _mixed(number: str) -> str:
    turned = let("k", f"{number} * {_int(0xCC9E2D51)}", "(shiftleft(k, 15) | shiftrightunsigned(k, 17))")
    return f"({turned} * {_int(0x1B873593)})"


def _signed(digits: str) -> str:
    """A hexadecimal byte as a signed number, which Hive uses for the last bytes; 0 if it is missing."""
    return f"CAST(CAST(CAST(coalesce(conv({digits}, 16, 10), '0') AS INT) AS TINYINT) AS INT)"


def _int(bits: int) -> str:
    """32 bits as Java's int."""
    return str(bits - (1 << 32) if bits >= 1 << 31 else bits)


def _refused(name: str, type_: HiveType) -> UnsupportedError:
    return UnsupportedError(
        f"{name}() of {type_} is not supported: Spark cannot compute its Java hash code",
        hint="CAST the value to string; the hash code differs",
    )


def _hash_call(s: SparkRex, rex: Call) -> str:
    return _combined([_hash(s.render(a), a.type) for a in rex.args])


def _murmur_call(s: SparkRex, rex: Call) -> str:
    parts = ["0" if a.type.name == "void" else f"coalesce({_murmur_of(s.render(a), a.type)}, 0)" for a in rex.args]
    return _combined(parts)


HASHES: dict[str, Lower] = {"hash": _hash_call, "murmur_hash": _murmur_call}
