"""Iceberg's bucket transform: Murmur3 (x86, 32 bits) of a value in its binary form, modulo the number of buckets."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

_MASK = 0xFFFFFFFF


def bucket_of(value: Any, buckets: int) -> int | None:
    """The bucket of an integer, a date or time in its binary form, or of the bytes of a string; None for a value whose
    form depends on its column."""
    if isinstance(value, Decimal):
        return None
    if isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 63:
            return None
        value = value.to_bytes(8, "little", signed=True)
    return (_murmur3(value) & 0x7FFFFFFF) % buckets


def _murmur3(data: bytes) -> int:
    hashed = 0
    whole = len(data) & ~3
    for start in range(0, whole, 4):
        hashed ^= _mixed(int.from_bytes(data[start : start + 4], "little"))
        hashed = (_rotated(hashed, 13) * 5 + 0xE6546B64) & _MASK
    if rest := data[whole:]:
        hashed ^= _mixed(int.from_bytes(rest, "little"))
    hashed ^= len(data)
    hashed = ((hashed ^ (hashed >> 16)) * 0x85EBCA6B) & _MASK
    hashed = ((hashed ^ (hashed >> 13)) * 0xC2B2AE35) & _MASK
    return hashed ^ (hashed >> 16)


def _mixed(block: int) -> int:
    return (_rotated((block * 0xCC9E2D51) & _MASK, 15) * 0x1B873593) & _MASK


def _rotated(value: int, by: int) -> int:
    return ((value << by) | (value >> (32 - by))) & _MASK
