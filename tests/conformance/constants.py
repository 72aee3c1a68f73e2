"""The constants that queries compare with; generated rows should contain some of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tests.conformance.cases import Case

_TEXT = re.compile(r"'((?:[^'\\]|\\.|'')*)'")
_NUMBER = re.compile(r"(?<![\w.'])-?\d+(?:\.\d+)?(?![\w.'])")
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?: \d\d:\d\d:\d\d)?")


@dataclass(frozen=True)
class Constants:
    """Strings, numbers, and times as `yyyy-MM-dd[ HH:mm:ss]`; sorted."""

    texts: tuple[str, ...] = ()
    numbers: tuple[float, ...] = ()
    times: tuple[str, ...] = ()


def constants_of(cases: Iterable[Case]) -> Constants:
    texts: set[str] = set()
    numbers: set[float] = set()
    for case in cases:
        texts.update(text for text in _TEXT.findall(case.sql) if len(text) < 30)
        numbers.update(float(number) for number in _NUMBER.findall(_TEXT.sub("", case.sql)))
    times = {match[0] for text in texts if (match := _TIME.match(text)) and _is_time(match[0])}
    return Constants(tuple(sorted(texts)), tuple(sorted(n for n in numbers if abs(n) < 1e15)), tuple(sorted(times)))


def _is_time(text: str) -> bool:
    from datetime import datetime

    try:
        return 1900 < datetime.fromisoformat(text).year < 2990
    except ValueError:
        return False
