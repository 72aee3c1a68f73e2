"""The complex types whose values are read as texts, as a scan query returns them. Imports no library."""

from __future__ import annotations

from hivedruid.sketches.kinds import kind_of

JSON = "COMPLEX<json>"
TEXT_PAIR = "COMPLEX<serializablePairLongString>"
NUMBER_PAIRS = {
    "COMPLEX<serializablePairLongLong>": "q",
    "COMPLEX<serializablePairLongDouble>": "d",
    "COMPLEX<serializablePairLongFloat>": "f",
}
"""Pairs of a time and a number, with its format as of `struct`."""
PAIRS = frozenset({TEXT_PAIR, *NUMBER_PAIRS})


def is_read_as_text(type_: str) -> bool:
    """Whether values of a complex type are read as texts: nested data and pairs as JSON, sketches as base64."""
    return type_ == JSON or type_ in PAIRS or kind_of(type_) is not None
