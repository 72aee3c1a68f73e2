"""Texts of values in files: usual ones, and those that look almost like them."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

WORDS = (
    "", " ", "\\N", "NaN", "inf", "Infinity", "null", "1.", "0x10", "1d", "1L", ".5", "-.5", "-0", "-0.0", "00", "1_0", "١٢",
    "true", "TRUE", "False", "yes", "ſalse", "TRUE ", " true",
)  # fmt: skip
YEARS = (1, 1500, 1582, 1583, 1969, 1970, 2024, 9999)


def cells(random: Random, count: int) -> list[str]:
    """None of them has a comma or a line break."""
    forms: tuple[Callable[[Random], str], ...] = (_integer, _real, _decimal, _day, _moment, lambda r: r.choice(WORDS))
    return [random.choice(forms)(random) for _ in range(count)]


def _digits(random: Random, most: int) -> str:
    return "".join(random.choices("0123456789", k=random.randint(1, most)))


def _integer(random: Random) -> str:
    return (
        random.choice(("", "-", "+")) + "0" * random.choice((0, 0, 0, 20)) + _digits(random, random.choice((3, 10, 20)))
    )


def _real(random: Random) -> str:
    fraction = random.choice(("", f".{_digits(random, 17)}"))
    exponent = random.choice(("", random.choice("eE") + random.choice(("", "-", "+")) + _digits(random, 3)))
    return random.choice(("", "-")) + _digits(random, 12) + fraction + exponent


def _decimal(random: Random) -> str:
    return random.choice(("", "-")) + _digits(random, 38) + random.choice(("", f".{_digits(random, 30)}"))


def _day(random: Random) -> str:
    return f"{random.choice(YEARS):04}-{random.randint(1, 13):02}-{random.randint(1, 31):02}"


def _moment(random: Random) -> str:
    day = f"{random.choice(YEARS):04}-{random.randint(1, 12):02}-{random.randint(1, 28):02}"
    clock = f"{random.randint(0, 24):02}:{random.randint(0, 60):02}:{random.randint(0, 60):02}"
    fraction = random.choice(("", f".{_digits(random, 9)}"))
    return day + random.choice(" T") + clock + fraction + random.choice(("", "Z", "+01:00"))
