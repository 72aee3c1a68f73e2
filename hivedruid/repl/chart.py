"""`\\chart`: a result as lines over time, or as bars, in the terminal."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from itertools import islice
from typing import Any

from hivedruid.catalog.types import HiveType
from hivedruid.errors import UsageError
from hivedruid.extras import imported
from hivedruid.lazy_dataclass import dataclass
from hivedruid.results import Result, Row
from hivedruid.terminal import printable

MOST_ROWS = 100_000
MOST_LINES, MOST_BARS = 8, 40
"""The lines and bars that can be told apart on a screen."""
_TICKS = 5
_DAY, _HOUR = 86_400, 3600

Points = list[tuple[float, float]]


@dataclass(frozen=True)
class Drawing:
    """The chart, the number of rows that were read, and what it leaves out; empty if nothing."""

    text: str
    rows: int
    note: str = ""


def draw(result: Result, width: int, height: int, *, colored: bool) -> Drawing:
    """A line for each numeric column over the first column with times, or, if there is none, over the first column,
    which has a bar for each row if it is not numeric either. A text column besides the times divides the rows into
    lines.

    Raises UsageError for a result without a numeric column, UnsupportedError without the package that draws.
    """
    types = [column.type for column in result.columns]
    x = next((n for n, type_ in enumerate(types) if _is_time(type_)), 0)
    numeric = [n for n, type_ in enumerate(types) if n != x and type_.is_numeric]
    if not numeric:
        raise UsageError(
            "the result has no numeric column to draw",
            hint="use a query such as SELECT floor(`__time` TO HOUR), count(*) FROM t GROUP BY floor(`__time` TO HOUR)",
        )
    rows = list(islice(result.rows, MOST_ROWS))
    names = [column.name for column in result.columns]
    note = f"the first {MOST_ROWS:,} rows" if len(rows) == MOST_ROWS else ""
    plot = imported("plotext", "chart", major="5")
    plot.clear_figure()
    plot.theme("pro" if colored else "clear")
    plot.plot_size(width, height)
    if _is_time(types[x]) or types[x].is_numeric:
        texts = [n for n, type_ in enumerate(types) if type_.is_string]
        lines = _by_text(rows, x, texts[0], numeric[0]) if texts else _by_column(rows, x, numeric, names)
        chosen = sorted(lines, key=lambda name: -sum(abs(y) for _, y in lines[name]))[:MOST_LINES]
        if len(chosen) < len(lines):
            note = ", ".join(filter(None, (note, f"the {MOST_LINES} largest of {len(lines)} lines")))
        _draw_lines(plot, {name: lines[name] for name in lines if name in chosen}, is_time=_is_time(types[x]))
    else:
        if len(rows) > MOST_BARS:
            note = f"the first {MOST_BARS} of {len(rows):,} rows"
        bars = [(_name(row[x]), _number(row[numeric[0]]) or 0.0) for row in rows[:MOST_BARS]]
        plot.plot_size(width, max(height, len(bars) + 4))
        plot.bar([name for name, _ in reversed(bars)], [y for _, y in reversed(bars)], orientation="horizontal")
        plot.title(names[numeric[0]])
    text = str(plot.build())
    return Drawing((text if colored else plot.uncolorize(text)).rstrip("\n") + "\n", len(rows), note)


def _is_time(type_: HiveType) -> bool:
    return type_.name in ("date", "timestamp", "timestamp with local time zone")


def _number(cell: Any) -> float | None:
    """A cell of either axis, a time in seconds; None is not drawn."""
    match cell:
        case datetime():  # as it is shown, in the session's zone
            return cell.replace(tzinfo=UTC).timestamp()
        case date():
            return datetime(cell.year, cell.month, cell.day, tzinfo=UTC).timestamp()
        case None:
            return None
    value = float(cell)
    return value if math.isfinite(value) else None


def _name(cell: Any) -> str:
    return "NULL" if cell is None else printable(str(cell))


def _points(pairs: Iterable[tuple[Any, Any]]) -> Iterator[tuple[float, float]]:
    for cells in pairs:
        x, y = map(_number, cells)
        if x is not None and y is not None:
            yield x, y


def _by_column(rows: Sequence[Row], x: int, numeric: Sequence[int], names: Sequence[str]) -> dict[str, Points]:
    return {names[y]: sorted(_points((row[x], row[y]) for row in rows)) for y in numeric}


def _by_text(rows: Sequence[Row], x: int, text: int, y: int) -> dict[str, Points]:
    divided: defaultdict[str, list[tuple[Any, Any]]] = defaultdict(list)
    for row in rows:
        divided[_name(row[text])].append((row[x], row[y]))
    return {name: sorted(_points(pairs)) for name, pairs in divided.items()}


def _draw_lines(plot: Any, lines: dict[str, Points], *, is_time: bool) -> None:
    every = [x for points in lines.values() for x, _ in points]
    if not every:
        raise UsageError("the result has no rows to draw", hint="run the query to show its rows")
    for name, points in lines.items():
        if points:
            plot.plot([x for x, _ in points], [y for _, y in points], label=name, marker="braille")
    if is_time:
        first, last = min(every), max(every)
        ticks = [first + (last - first) * n / (_TICKS - 1) for n in range(_TICKS if last > first else 1)]
        plot.xticks(ticks, [_tick(tick, last - first) for tick in ticks])


def _tick(seconds: float, span: float) -> str:
    time = datetime.fromtimestamp(seconds, UTC)
    if span >= _TICKS * _DAY:
        return f"{time:%Y-%m-%d}"
    return f"{time:%m-%d %H:%M}" if span >= _HOUR else f"{time:%H:%M:%S}"
