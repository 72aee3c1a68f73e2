"""Results as charts in the terminal."""

from __future__ import annotations

import sys
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from hivedruid.catalog.types import BIGINT, DATE, DOUBLE, STRING, TIMESTAMP, HiveType, decimal
from hivedruid.errors import UnsupportedError, UsageError
from hivedruid.repl.chart import MOST_BARS, MOST_LINES, Drawing, draw
from hivedruid.results import Result, ResultColumn


def chart(columns: dict[str, HiveType], *rows: tuple[Any, ...]) -> Drawing:
    result = Result(tuple(ResultColumn(*column) for column in columns.items()), iter(rows))
    return draw(result, 80, 20, colored=False)


def test_a_line_for_each_numeric_column() -> None:
    hours = [datetime(2026, 1, 1) + timedelta(hours=hour) for hour in range(30)]
    rows = [(hour, number, Decimal(number) / 2) for number, hour in enumerate(hours)]
    found = chart({"hour": TIMESTAMP, "added": BIGINT, "half": decimal(9, 2)}, *rows)
    assert "added" in found.text
    assert "half" in found.text
    assert "29.0" in found.text
    assert "01-01 00:00" in found.text.splitlines()[-1]
    assert "01-02 05:00" in found.text.splitlines()[-1]
    assert "\x1b" not in found.text
    assert max(map(len, found.text.splitlines())) <= 80
    assert (found.rows, found.note) == (30, "")


def test_a_text_column_divides_rows_into_lines() -> None:
    days = [date(2026, 1, 1 + day) for day in range(3)]
    rows = [(day, f"c{number}", number) for day in days for number in range(MOST_LINES + 2)]
    found = chart({"day": DATE, "channel": STRING, "added": BIGINT}, *rows)
    assert "c9" in found.text
    assert "c1 " not in found.text
    assert found.note == f"the {MOST_LINES} largest of {MOST_LINES + 2} lines"
    assert "01-01 00:00" in found.text.splitlines()[-1]


def test_bars() -> None:
    found = chart({"channel": STRING, "added": DOUBLE}, ("#en", 3.0), (None, 1.0), ("bad\x1b", None))
    assert [line.split("┤")[0].strip() for line in found.text.splitlines() if "┤" in line] == [
        "#en",
        "NULL",
        r"bad\x1b",
    ]
    many = chart({"n": STRING, "added": BIGINT}, *((str(n), n) for n in range(MOST_BARS + 1)))
    assert many.note == f"the first {MOST_BARS} of {MOST_BARS + 1} rows"


@pytest.mark.parametrize("value", [None, float("nan"), float("inf")])
def test_values_that_are_no_points(value: float | None) -> None:
    time = datetime(2026, 1, 1)
    assert "5.0" in chart({"t": TIMESTAMP, "n": DOUBLE}, (time, 1.0), (time, value), (None, 9.0), (time, 5.0)).text
    with pytest.raises(UsageError, match="no rows to draw"):
        chart({"t": TIMESTAMP, "n": DOUBLE}, (time, value))


def test_without_a_numeric_column() -> None:
    with pytest.raises(UsageError, match="no numeric column"):
        chart({"n": BIGINT, "s": STRING}, (1, "x"))


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "plotext", None)
    with pytest.raises(UnsupportedError) as found:
        chart({"t": TIMESTAMP, "n": BIGINT})
    assert found.value.hint == "run pip install 'hivedruid[chart]'"


def test_another_version_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hivedruid.extras.version", lambda _: "4.2.0")
    with pytest.raises(UnsupportedError, match=r"plotext 4\.2\.0 is installed, and version 5 is required"):
        chart({"t": TIMESTAMP, "n": BIGINT})
