"""Hive's string and binary functions in Spark SQL, where Spark's function of the same name differs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hivedruid.catalog.types import VOID
from hivedruid.errors import UnsupportedError
from hivedruid.plan.functions import XPATHS
from hivedruid.plan.rex import Call, Literal, Rex
from hivedruid.plan.spark_json import get_json_object
from hivedruid.plan.spark_urls import parse_url, parse_url_tuple

if TYPE_CHECKING:
    from hivedruid.plan.spark_rex import SparkRex

Lower = Callable[["SparkRex", Call], str]


def constant(rex: Rex) -> object:
    """The value of a literal, None for any other expression."""
    return rex.value if isinstance(rex, Literal) else None


def substring(s: SparkRex, rex: Call) -> str:
    """'' if the start is further left than the length of the string (UDFSubstr.makeIndex); Spark starts at the first
    character.
    """
    text, start, *length = [s.render(a) for a in rex.args]
    plain = f"substring({', '.join((text, start, *length))})"
    first = constant(rex.args[1])
    if isinstance(first, int) and first >= 0:
        return plain
    nothing = f"substring({text}, 1, {f'0 * {length[0]}' if length else '0'})"
    return f"(CASE WHEN {start} < -length({text}) THEN {nothing} ELSE {plain} END)"


def trim(side: str) -> Lower:
    """The characters to trim precede the string in Spark's two-argument form."""

    def lower(s: SparkRex, rex: Call) -> str:
        args = [s.render(a) for a in rex.args]
        return f"trim({side} {args[1]} FROM {args[0]})" if len(args) > 1 else f"{rex.op}({args[0]})"

    return lower


def _pad(s: SparkRex, rex: Call) -> str:
    """NULL for an empty padding string (GenericUDFBasePad)."""
    text = f"{rex.op}({', '.join(s.render(a) for a in rex.args)})"
    return text if constant(rex.args[2]) else f"(CASE WHEN {s.render(rex.args[2])} <> '' THEN {text} END)"


def signed_byte(binary: str, position: str) -> str:
    """One byte of a binary as Java's signed byte."""
    return f"CAST(CAST(conv(hex(substring({binary}, {position}, 1)), 16, 10) AS INT) AS TINYINT)"


def _ascii(s: SparkRex, rex: Call) -> str:
    """The first byte of UTF-8, signed (UDFAscii)."""
    text = s.render(rex.args[0])
    return f"(CASE WHEN {text} = '' THEN 0 ELSE CAST({signed_byte(f'CAST({text} AS BINARY)', '1')} AS INT) END)"


def _soundex(s: SparkRex, rex: Call) -> str:
    """Of the letters only; NULL if one of them is not Latin (commons-codec)."""
    letters = f"regexp_replace({s.render(rex.args[0])}, '[^\\\\p{{L}}]', '')"
    return f"(CASE WHEN {letters} NOT RLIKE '[^A-Za-z]' THEN soundex({letters}) END)"


def _instr(s: SparkRex, rex: Call) -> str:
    """Nothing is found in the empty string, not even '' (GenericUDFUtils.findText). The third argument is the start,
    the fourth the number of the occurrence.
    """
    text, sought = s.render(rex.args[0]), s.render(rex.args[1])
    if len(rex.args) == 2:
        position = f"instr({text}, {sought})"
        return (
            position
            if constant(rex.args[1])
            else f"(CASE WHEN {text} = '' AND {sought} = '' THEN 0 ELSE {position} END)"
        )
    start, nth = constant(rex.args[2]), constant(rex.args[3]) if len(rex.args) > 3 else 1
    if not constant(rex.args[1]) or not isinstance(start, int) or start < 1 or not isinstance(nth, int) or nth < 1:
        raise UnsupportedError(
            "instr() with a position requires a constant string, and constants of at least 1 as position and"
            " occurrence",
            hint="use locate(text, text, position)",
        )
    position = f"locate({sought}, {text}, {start})"
    if nth == 1:
        return position
    step = f"CASE WHEN p > 0 THEN locate({sought}, {text}, p + 1) ELSE p END"
    return f"aggregate(sequence(2, {nth}), {position}, (p, i) -> {step})"


def _xpath(s: SparkRex, rex: Call) -> str:
    path = constant(rex.args[1])
    if path is None and not isinstance(rex.args[1], Literal):
        raise UnsupportedError(f"the path in {rex.op}() must be constant", hint="write the path as a string literal")
    return f"{rex.op}({', '.join(s.render(a) for a in rex.args)})"


def _locate(s: SparkRex, rex: Call) -> str:
    sought, text, *position = [s.render(a) for a in rex.args]
    if not position:
        return f"locate({sought}, {text})"
    start = position[0]
    match = f"locate({sought}, {text}, {start})"
    return match if constant(rex.args[0]) else f"(CASE WHEN {start} > length({text}) + 1 THEN 0 ELSE {match} END)"


def _replace(s: SparkRex, rex: Call) -> str:
    """The empty string is found before every character and at the end (String.replace)."""
    text, sought, new = [s.render(a) for a in rex.args]
    plain = f"replace({text}, {sought}, {new})"
    if constant(rex.args[1]):
        return plain
    between = f"array_join(transform(split({text}, ''), c -> concat(c, {new})), '')"
    everywhere = f"CASE WHEN {text} = '' THEN {new} ELSE concat({new}, {between}) END"
    return f"(CASE WHEN {sought} = '' THEN {everywhere} ELSE {plain} END)"


def _substring_index(s: SparkRex, rex: Call) -> str:
    text, delimiter, count = [s.render(a) for a in rex.args]
    empty = f"{text} = '' OR ({delimiter} = '' AND {text} IS NOT NULL)"
    return f"(CASE WHEN {empty} THEN '' ELSE substring_index({text}, {delimiter}, {count}) END)"


def _hex(s: SparkRex, rex: Call) -> str:
    """Integers in hexadecimal, other values by their bytes."""
    value, text = rex.args[0], s.render(rex.args[0])
    plain = value.type.is_integer or value.type.is_string or value.type.name == "binary"
    return f"hex({text})" if plain else f"hex(CAST({text} AS STRING))"


def _sha2(s: SparkRex, rex: Call) -> str:
    """A length of 1 is SHA-1 (GenericUDFSha2 requests `SHA-<length>` from Java)."""
    value, length = [s.render(a) for a in rex.args]
    plain = f"sha2({value}, {length})"
    return (
        plain
        if constant(rex.args[1]) not in (None, 1)
        else f"(CASE WHEN {length} = 1 THEN sha1({value}) ELSE {plain} END)"
    )


def _aes(name: str) -> Lower:
    """ECB, as in Hive; NULL for a key length that AES does not have, and if decryption fails."""

    def lower(s: SparkRex, rex: Call) -> str:
        value, key = [s.render(a) for a in rex.args]
        bytes_ = f"CAST({key} AS BINARY)"
        return f"(CASE WHEN length({bytes_}) IN (16, 24, 32) THEN {name}(CAST({value} AS BINARY), {bytes_}, 'ECB') END)"

    return lower


def _split(s: SparkRex, rex: Call) -> str:
    """The empty pattern results in an empty string at the end (String.split)."""
    text, pattern = (s.render(a) for a in rex.args)
    plain = f"split({text}, {pattern})"
    if constant(rex.args[1]):
        return plain
    letters = f"CASE WHEN {text} = '' THEN array('') ELSE concat({plain}, array('')) END"
    return f"(CASE WHEN {pattern} = '' THEN {letters} ELSE {plain} END)"


def _concat_ws(s: SparkRex, rex: Call) -> str:
    """NULL among the elements of an array is written as null; as an argument it is skipped."""
    args = [s.render(a) for a in rex.args]
    for i, arg in enumerate(rex.args):
        if arg.type.name == "array":
            args[i] = f"transform({args[i]}, e -> coalesce(e, 'null'))"
    return f"concat_ws({', '.join(args)})"


def _rlike(s: SparkRex, rex: Call) -> str:
    """The empty pattern has no match (UDFRegExp)."""
    text, pattern = (s.render(a) for a in rex.args)
    plain = f"({text} RLIKE {pattern})"
    return (
        plain if constant(rex.args[1]) else f"(CASE WHEN {pattern} = '' THEN {text} IS NULL AND NULL ELSE {plain} END)"
    )


def _field(s: SparkRex, rex: Call) -> str:
    if rex.args[0].type is VOID:
        return "0"
    value, *others = [s.render(a) for a in rex.args]
    return f"coalesce(CAST(array_position(array({', '.join(others)}), {value}) AS INT), 0)"


def unbroken_base64(value: str) -> str:
    """Spark SQL of the base64 of bytes. Spark breaks it into lines of 76 characters, as MIME does."""
    return f"translate(base64({value}), '\\r\\n', '')"


def _base64(s: SparkRex, rex: Call) -> str:
    return unbroken_base64(s.render(rex.args[0]))


NO_BASE64 = "not base64: "
"""Marks the error of a text in a BINARY column; its column, a colon and the beginning of the text follow."""
_BEGINNING = 60
_BASE64 = "^[A-Za-z0-9+/\\\\r\\\\n]*={0,2}[\\\\r\\\\n]*$"
"""Spark's decoder skips other characters. Line breaks are those of MIME."""


def _unbase64(s: SparkRex, rex: Call) -> str:
    """With the name of a column, what is no base64 is an error that names it (see plan.computed_columns)."""
    value, *column = (s.render(arg) for arg in rex.args)
    return checked_base64(value, column[0]) if column else f"unbase64({value})"


def checked_base64(value: str, column: str) -> str:
    """Spark SQL of the bytes of a base64 text; an error that names the column, a Spark literal, if it is none."""
    reason = f"concat('{NO_BASE64}', {column}, ': ', left({value}, {_BEGINNING}))"
    decoded = f"IF({value} RLIKE '{_BASE64}', try_to_binary({value}, 'base64'), NULL)"
    return f"coalesce({decoded}, IF({value} IS NULL, NULL, raise_error({reason})))"


STRINGS: dict[str, Lower] = {
    "base64": _base64,
    "unbase64": _unbase64,
    **dict.fromkeys(XPATHS, _xpath),
    "split": _split,
    "concat_ws": _concat_ws,
    "rlike": _rlike,
    "field": _field,
    "get_json_object": get_json_object,
    "parse_url": parse_url,
    "parse_url_tuple": parse_url_tuple,
    "substring": substring,
    "trim": trim("BOTH"),
    "ltrim": trim("LEADING"),
    "rtrim": trim("TRAILING"),
    "lpad": _pad,
    "rpad": _pad,
    "ascii": _ascii,
    "soundex": _soundex,
    "instr": _instr,
    "locate": _locate,
    "replace": _replace,
    "substring_index": _substring_index,
    "hex": _hex,
    "sha2": _sha2,
    "aes_encrypt": _aes("aes_encrypt"),
    "aes_decrypt": _aes("try_aes_decrypt"),
}
