"""Functions for tests/q/user_functions.q."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any

RATES = {"DE": Decimal("0.19"), "FR": Decimal("0.20")}


def net(gross: Decimal | None, country: str | None = "DE") -> Annotated[Decimal, "decimal(12,2)"] | None:
    """The amount without tax."""
    return None if gross is None or country is None else gross / (1 + RATES[country])


def total(first: int, *others: int) -> int:
    return first + sum(others)


def clean(text: str | None) -> str:
    return "none" if text is None else " ".join(text.split())


def parts(day: date, at: datetime, share: float) -> Annotated[Any, "struct<day: date, at: timestamp, share: double>"]:
    return {"day": day, "at": at, "share": share}


def words(text: str) -> list[str]:
    return text.split()


def lengths(texts: list[str]) -> dict[str, int]:
    return {text: len(text) for text in texts}


def wrong(number: int) -> str:
    return number  # type: ignore[return-value]


def large(number: int) -> int:
    return number * 10**18


def bare(number, factor):  # type: ignore[no-untyped-def]
    return number * factor


def union(number: int | str) -> int:
    return int(number)


def numbered(text: str) -> Annotated[list[Any], "array<struct<n: bigint, word: string>>"]:
    return [{"n": n, "word": word} for n, word in enumerate(text.split())]


def middle(values: list[float]) -> float | None:
    return sorted(values)[len(values) // 2] if values else None
