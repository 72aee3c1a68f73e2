"""The rows of the corpus's tables, and an embedded store that contains them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hivedruid.session import Session
from hivedruid.tables.kafka_feed import fields_of_columns
from tests.support.loads import index_task, ingest

HERE = Path(__file__).parent
NOW = "2024-12-24 18:30:00"

Row = dict[str, Any]

_MOMENTS = (
    # US/Pacific: summer time begins on 2024-03-10 at 10:00 UTC, and ends on 2024-11-03 at 09:00 UTC
    "2024-03-10T07:59:59.999", "2024-03-10T08:00:00", "2024-03-10T09:59:59.999", "2024-03-10T10:00:00", "2024-03-10T10:30:00.500",
    "2024-11-03T07:30:00", "2024-11-03T08:30:00", "2024-11-03T09:30:00", "2024-11-04T07:59:59",
    # starts and ends of days, months, quarters and years
    "2024-01-01T00:00:00", "2023-12-31T23:59:59.999", "2024-02-29T12:34:56.789", "2024-12-31T23:59:59", "2024-06-30T18:30:00",
    "1999-12-31T23:00:00", "1969-07-20T20:17:40.120",
)  # fmt: skip
_TOWNS = ("Aalen", "Bray", "Cork", "Derry", "", "Évora", None)
_STATIONS = ("Harbour", "Old Mill", "Castle Hill", "North Gate", "harbour", "100% Park", "O'Neill's", None)
_BIKES = ("city", "cargo", "e-bike", "tandem", None)
_PLANS = ("day", "week", "year", None)
_NOTES = (
    "flat tyre", "", "12", "7.50", " 3 ", "2024-03-05", "lost_key", "rain; wind", "50%", "ÜBER", "chain\\lock", "bell 🔔", None,
)  # fmt: skip


def rides() -> Iterator[Row]:
    """Ninety hires. Fares are whole 64ths, so that their sums are exact in any order."""
    for i in range(90):
        moment = _MOMENTS[i] if i < len(_MOMENTS) else None
        time = _at(moment) if moment else _at("2024-01-03T05:00:00") + i * 349_261_007 % 31_000_000_000
        n = i * i * 7 + i * 3
        town = _TOWNS[n % 23 % len(_TOWNS)]
        yield {
            "__time": time,
            "id": i,
            "town": town,
            "station": _STATIONS[n % 29 % len(_STATIONS)],
            "bike": _BIKES[n % 11 % len(_BIKES)],
            "plan": _PLANS[n % 13 % len(_PLANS)],
            "member": (True, False, None)[n % 7 % 3],
            "meters": None if i % 17 == 5 else n % 9973,
            "minutes": None if i % 19 == 6 else n % 181 - 20,
            "gears": (1, 3, 7, 21, None)[i % 5],
            "stars": None if i % 6 == 1 else n % 5 + 1,
            "fare": None if i % 14 == 9 else (n % 1999 - 300) / 64,
            "slope": None if i % 9 == 8 else (n % 33 - 16) / 4,
            "note": _NOTES[i % len(_NOTES)],
        }


def repairs() -> Iterator[Row]:
    parts = ("brake", "chain", "wheel", "saddle", None)
    mechanics = ("Ann", "Bob", "ann", None)
    for i in range(48):
        n = i * i * 5 + i
        yield {
            "__time": _at("2023-11-28T08:15:00") + i * 97 * 3_600_000 + i % 4 * 1_250,
            "town": ("Aalen", "Bray", "Cork", "Galway", None)[n % 17 % 5],
            "part": parts[n % 13 % len(parts)],
            "mechanic": mechanics[n % 7 % len(mechanics)],
            "minutes": None if i % 11 == 4 else n % 97,
            "cost": None if i % 8 == 3 else (n % 401) / 16,
            "urgent": n % 3 == 0,
        }


def weather() -> Iterator[Row]:
    for town, skip in (("Aalen", 1), ("Bray", 2), ("Cork", 3)):
        for day in range(0, 60, skip):
            n = day * day * 3 + len(town) * day
            yield {
                "__time": _at("2024-02-01T00:00:00") + day * 86_400_000,
                "town": town,
                "sky": ("clear", "clouds", "rain", "snow")[n % 7 % 4],
                "rain": n % 19 / 4,
                "wind": n % 23,
            }


def stations() -> Iterator[Row]:
    listed = (
        ("Harbour", "Quays", 24, 2.5), ("Old Mill", "Quays", 12, 8.0), ("Castle Hill", "Old Town", 18, 61.25), ("North Gate", "Old Town", 30, 44.0),
        ("100% Park", "Green", 8, None), ("O'Neill's", None, None, 17.5), ("Airport", "Outskirts", 40, 90.75),
    )  # fmt: skip
    for i, (station, district, docks, height) in enumerate(listed):
        time = _at("2020-05-01T06:00:00") + i * 30 * 86_400_000
        yield {"__time": time, "station": station, "district": district, "docks": docks, "height": height}


def letters() -> Iterator[Row]:
    tags = (["praise"], ["fare", "praise"], None, ["tyre", "rain", "fare"], ["rain", "rain"], ["Fare"])
    for i in range(14):
        yield {
            "__time": _at("2024-04-01T09:00:00") + i * 40 * 3_600_000,
            "author": ("Kay", "Lou", "Max", None)[i * i % 5 % 4],
            "tags": tags[i % len(tags)],
            "likes": i * 37 % 11,
        }


def ledger() -> Iterator[Row]:
    """Values as they are stored: amounts are doubles, rates and days are strings."""
    for i in range(24):
        yield {
            "__time": _at("2024-01-15T10:00:00") + i * 11 * 86_400_000,
            "account": ("hire", "repair", "rent")[i * i % 5 % 3],
            "amount": None if i % 10 == 7 else (i * 7919 % 20_011 - 5_000) / 100,
            "rate": None if i % 7 == 6 else f"{i * 1237 % 30_000 / 10_000:.4f}",
            "due": None if i % 9 == 4 else f"2024-{i % 12 + 1:02}-{i % 28 + 1:02}",
        }


def districts() -> Iterator[Row]:
    listed = (
        ("Quays", 5200, "1742-06-01", "1801-01-01 00:00:00", "3.25", ["Porto"]),
        ("Old Town", 11800, "1120-01-01", "1703-05-09 12:30:00", "1.80", ["Siena", "Gent"]),
        ("Green", 700, "1999-10-31", None, "12.00", ["Ghent"]),
        ("Outskirts", None, None, "1998-07-15 08:00:00", None, None),
        ("Moor", 0, "2020-02-29", "2024-03-10 02:30:00", "250.50", ["Siena"]),
    )  # fmt: skip
    names = ("district", "people", "founded", "charter", "area", "twins")
    return (dict(zip(names, row, strict=True)) for row in listed)


ROWS: dict[str, Callable[[], Iterator[Row]]] = {
    "rides": rides,
    "repairs": repairs,
    "weather": weather,
    "stations": stations,
    "letters": letters,
    "ledger": ledger,
    "lost": lambda: iter(()),
    "districts": districts,
}
"""The rows of each table, by the names of their columns, times as milliseconds."""


def fill(home: Path) -> None:
    """The tables and their rows in a new home, by the tasks that a cluster would run."""
    files = home / "files"
    with Session(home, hivevar={"districts": str(files / "districts")}) as session:
        for statement in session.statements((HERE / "tables.sql").read_text(encoding="utf-8")):
            session.execute(statement)
        for name, rows in ROWS.items():
            table = session.catalog.find("default", name)
            assert table is not None
            fields = fields_of_columns(table.properties, table.columns)
            folder = files / name
            folder.mkdir(parents=True)
            lines = [json.dumps({fields[k]: v for k, v in row.items() if v is not None}) + "\n" for row in rows()]
            (folder / "rows.json").write_text("".join(lines), encoding="utf-8")
            if table.kind == "druid" and lines:
                ingest(session.store, index_task(table, folder))


def _at(text: str) -> int:
    """Milliseconds of a time in UTC."""
    return (datetime.fromisoformat(text).replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(
        milliseconds=1
    )
