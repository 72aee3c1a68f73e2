"""The two ways of writing few rows, and rows to write."""

from __future__ import annotations

from collections.abc import Sequence

WAYS = {"here": "50000", "spark": "0"}
"""A table for each way, and the setting that chooses it."""


def values(*rows: Sequence[str]) -> str:
    return ", ".join(f"({', '.join(row)})" for row in rows)
