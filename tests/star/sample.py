"""The rows of the star's tables: written once, for hivedruid's tables and for those of DuckDB."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import duckdb

from hivedruid.catalog.table import Table
from hivedruid.session import Session
from tests.support.loads import index_task, ingest

HERE = Path(__file__).parent

Row = dict[str, Any]

FIRST = date(2023, 12, 25)
"""A Monday; weeks begin on Mondays."""
DAYS = 750
FIRST_DAY = 5000
"""The key of the first day."""
UNDATED = date(2020, 2, 2)
"""The date of the times of facts without a day."""
MEMBERS, HOUSEHOLDS, ADDRESSES, GEAR, BRANCHES, DEPOTS, OFFERS = 140, 40, 60, 72, 6, 3, 8
REGIONS = ("North", "South", "East", "West", "Isles")
CATEGORIES = {
    "Tents": ("dome", "tunnel"),
    "Boats": ("kayak", "canoe", "raft"),
    "Climbing": ("rope", "helmet"),
    "Winter": ("ski", "sledge"),
}
COLOURS = ("red", "blue", "green", "sand", "navy", None)
NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal")
CAUSES = ("too small", "broken", "bad weather", None)


# --- dimensions -----------------------------------------------------------------------------------------------------


def days() -> Iterator[Row]:
    for number in range(DAYS):
        day = FIRST + timedelta(days=number)
        yield {
            "day_id": FIRST_DAY + number, "on_date": day.isoformat(), "in_year": day.year, "in_quarter": (day.month + 2) // 3,
            "in_month": day.month, "week_no": number // 7, "weekday": f"{day:%A}", "is_holiday": number % 37 == 7,
        }  # fmt: skip


def slots() -> Iterator[Row]:
    for slot in range(48):
        meal = {8: "breakfast", 12: "lunch", 13: "lunch"}.get(slot // 2)
        yield {"slot_id": slot, "hour_of_day": slot // 2, "minute_of_hour": slot % 2 * 30, "meal": meal}


def members() -> Iterator[Row]:
    random = Random(1)
    for member in range(1, MEMBERS + 1):
        yield {
            "member_id": member, "code": f"M{member:05}", "first_name": random.choice(NAMES), "last_name": f"{random.choice(NAMES)}son",
            "household_id": _key(random, HOUSEHOLDS), "address_id": _key(random, ADDRESSES), "born_year": random.randint(1940, 2004),
            "born_month": random.randint(1, 12), "country": random.choice(("Eire", "Wales", "Norway", None)),
        }  # fmt: skip


def households() -> Iterator[Row]:
    for household in range(1, HOUSEHOLDS + 1):
        yield {
            "household_id": household, "marital": "SMDW"[household % 4], "education": ("school", "college", "degree")[household % 3],
            "children": household % 7 - 1 if household % 7 else None, "cars": household % 5, "income_from": f"{household % 9 * 10_000}.50",
        }  # fmt: skip


def addresses() -> Iterator[Row]:
    random = Random(2)
    for address in range(1, ADDRESSES + 1):
        region = random.choice(REGIONS)
        yield {
            "address_id": address, "town": f"{region}ton {address % 7}", "county": f"{region} {address % 3}", "region": region,
            "postcode": f"{random.choice((24, 35, 61, 88))}{random.randrange(1000):03}" if address % 11 else None,
            "utc_offset": -5 if region == "Isles" else -6,
        }  # fmt: skip


def gear() -> Iterator[Row]:
    random = Random(3)
    classes = [(category, kind) for category, kinds in CATEGORIES.items() for kind in kinds]
    for item in range(1, GEAR + 1):
        category, kind = classes[item % len(classes)]
        yield {
            "gear_id": item, "code": f"G{(item + 1) // 2:04}", "label": f"{kind} no. {item}", "brand": f"{kind} brand {item % 4}",
            "class": kind, "category": category if item % 24 else None, "maker": 100 + item % 9, "colour": random.choice(COLOURS),
            "size": random.choice(("small", "medium", "large")), "list_price": f"{random.randint(400, 9900) / 100:.2f}",
        }  # fmt: skip


def branches() -> Iterator[Row]:
    for branch in range(1, BRANCHES + 1):
        region = REGIONS[branch % 4]
        yield {
            "branch_id": branch, "name": ("Harbour", "Summit", "Lakeside")[branch % 3] + f" {branch % 2}", "county": f"{region} {branch % 3}",
            "region": region, "postcode": f"{(24, 35, 61)[branch % 3]}{branch * 111:03}", "staff": 3 * branch if branch != 4 else None,
        }  # fmt: skip


def depots() -> Iterator[Row]:
    names = ("Quarry Road", "Old Airfield", None)
    for depot, name in enumerate(names, start=1):
        yield {"depot_id": depot, "name": name, "region": REGIONS[depot], "floor_area": f"{depot * 1250}.5"}


def offers() -> Iterator[Row]:
    for offer in range(1, OFFERS + 1):
        yield {
            "offer_id": offer, "name": f"offer {offer}", "by_mail": "YN"[offer % 2], "by_radio": "YNN"[offer % 3], "budget": f"{offer * 750}.00",
        }  # fmt: skip


# --- facts ----------------------------------------------------------------------------------------------------------


def desk_hires() -> Iterator[Row]:
    """Some 3,600 rows. Amounts are whole quarters, so that their sums are exact in any order."""
    random = Random(11)
    for ticket in range(1, 1501):
        day, slot, member = _day(random), random.randrange(14, 42), _key(random, MEMBERS)
        shared = {
            **_at(day, slot), "slot_id": slot, "member_id": member, "household_id": _key(random, HOUSEHOLDS),
            "address_id": _key(random, ADDRESSES), "branch_id": _key(random, BRANCHES), "ticket": ticket,
        }  # fmt: skip
        for item in random.sample(range(1, GEAR + 1), random.choice((1, 1, 2, 3, 5))):
            offer = random.randint(1, OFFERS) if random.random() < 0.4 else None
            yield {**shared, "gear_id": item, "offer_id": offer, **_amounts(random)}


def desk_returns() -> Iterator[Row]:
    return _returned(desk_hires(), Random(12), "ticket", 5, lambda hire: {"branch_id": hire["branch_id"]})


def phone_hires() -> Iterator[Row]:
    random = Random(21)
    for order in range(1, 751):
        day, member = _day(random), _key(random, MEMBERS)
        receiver = member if random.random() < 0.7 else _key(random, MEMBERS)
        sent = None if day is None else day + random.choice((1, 9, 33, 64, 95))
        for item in random.sample(range(1, GEAR + 1), random.choice((1, 2, 2, 3))):
            yield {
                **_at(day, 20), "sent_day_id": sent, "gear_id": item, "member_id": member, "receiver_id": receiver,
                "depot_id": _key(random, DEPOTS), "offer_id": _key(random, OFFERS), "order_no": order,
                **_amounts(random), "discount": random.randrange(80) / 4, "freight": random.randrange(60) / 4,
            }  # fmt: skip


def phone_returns() -> Iterator[Row]:
    random = Random(22)
    return _returned(phone_hires(), random, "order_no", 4, lambda _: {"address_id": _key(random, ADDRESSES)})


def app_hires() -> Iterator[Row]:
    random = Random(31)
    for order in range(1, 801):
        day, slot, member = _day(random), random.randrange(48), _key(random, MEMBERS)
        sent = None if day is None else day + random.choice((2, 20, 45, 70, 130))
        for item in random.sample(range(1, GEAR + 1), random.choice((1, 1, 2, 4))):
            yield {
                **_at(day, slot), "slot_id": slot, "sent_day_id": sent, "gear_id": item, "member_id": member,
                "address_id": _key(random, ADDRESSES), "depot_id": _key(random, DEPOTS), "offer_id": _key(random, OFFERS),
                "order_no": order, **_amounts(random), "discount": random.randrange(80) / 4, "freight": random.randrange(60) / 4,
            }  # fmt: skip


def app_returns() -> Iterator[Row]:
    return _returned(app_hires(), Random(32), "order_no", 3, lambda _: {})


def stock() -> Iterator[Row]:
    random = Random(41)
    for day in range(FIRST_DAY + 6, FIRST_DAY + DAYS, 28):
        for item in range(1, GEAR + 1):
            for depot in range(1, DEPOTS + 1):
                on_hand = random.randint(0, 40) * (5 if item % 6 == 0 and random.random() < 0.3 else 1)
                yield {
                    **_at(day, 0),
                    "gear_id": item,
                    "depot_id": depot,
                    "on_hand": on_hand if random.random() < 0.95 else None,
                }


def _returned(
    hires: Iterator[Row], random: Random, number: str, every: int, more: Callable[[Row], Row]
) -> Iterator[Row]:
    """Some hires come back within weeks; a few by another member."""
    for hire in hires:
        if random.randrange(every):
            continue
        day = None if hire["day_id"] is None else hire["day_id"] + random.choice((3, 12, 40, 75, 100))
        pieces = random.randint(1, hire["pieces"]) if hire["pieces"] else None
        yield {
            **_at(day, 30), "gear_id": hire["gear_id"], number: hire[number], "pieces": pieces, "cause": random.choice(CAUSES),
            "member_id": hire["member_id"] if random.random() < 0.85 else _key(random, MEMBERS),
            "refund": random.randrange(4 * 60) / 4, "loss": random.randrange(4 * 30) / 4, **more(hire),
        }  # fmt: skip


def _key(random: Random, size: int) -> int | None:
    """A key of a dimension; sometimes none."""
    return random.randint(1, size) if random.random() < 0.96 else None


def _day(random: Random) -> int | None:
    """More days in December than in other months, and none in the last weeks."""
    number = random.randrange(DAYS - 60)
    if random.random() < 0.15:
        number = random.choice((0, 342)) + random.randrange(28)
    return FIRST_DAY + number if random.random() < 0.97 else None


def _at(day: int | None, slot: int) -> Row:
    """The key of a day and a time on it."""
    on_date = UNDATED if day is None else FIRST + timedelta(days=day - FIRST_DAY)
    moment = datetime(on_date.year, on_date.month, on_date.day, slot // 2, slot % 2 * 30, tzinfo=UTC)
    return {"__time": int(moment.timestamp()) * 1000, "day_id": day}


def _amounts(random: Random) -> Row:
    pieces = random.randint(1, 12) if random.random() < 0.97 else None
    price = random.randint(8, 320) / 4
    paid = (pieces or 1) * price * random.choice((1, 1, 1, 0.5))
    gain = None if random.random() < 0.03 else paid - random.randint(4, 1600) / 4
    return {"pieces": pieces, "price": price, "paid": paid, "gain": gain}


# --- the tables -----------------------------------------------------------------------------------------------------

ROWS: dict[str, Callable[[], Iterable[Row]]] = {
    made.__name__: made
    for made in (
        desk_hires, phone_hires, app_hires, desk_returns, phone_returns, app_returns, stock,
        days, slots, members, households, addresses, gear, branches, depots, offers,
    )
}  # fmt: skip
"""The rows of each table by the names of their columns, times as milliseconds."""


def create(session: Session) -> tuple[Table, ...]:
    """The tables, without rows; the variable `dir` is the folder of their files."""
    for statement in session.statements((HERE / "tables.sql").read_text(encoding="utf-8")):
        session.execute(statement)
    found = [session.catalog.find("default", name) for name in ROWS]
    return tuple([table for table in found if table is not None])


def fill(session: Session, folder: Path) -> duckdb.DuckDBPyConnection:
    """The tables with their rows, and a DuckDB database with the same ones; every table has a Parquet file, too."""
    model = duckdb.connect()
    for table in create(session):
        raw, files = folder / "raw" / table.name, folder / table.name
        raw.mkdir(parents=True)
        files.mkdir(parents=True)
        lines = (json.dumps({k: v for k, v in row.items() if v is not None}) + "\n" for row in ROWS[table.name]())
        (raw / "rows.json").write_text("".join(lines), encoding="utf-8")
        _model_table(model, table, raw)
        model.execute(f"COPY {table.name} TO '{files}/rows.parquet'")
        if table.has_data_source:
            ingest(session.store, index_task(table, raw))
    return model


def _model_table(model: duckdb.DuckDBPyConnection, table: Table, raw: Path) -> None:
    types = ", ".join(f"'{c.name}': '{'BIGINT' if c.name == '__time' else c.type}'" for c in table.columns)
    columns = ", ".join("epoch_ms(__time) AS __time" if c.name == "__time" else c.name for c in table.columns)
    model.execute(
        f"CREATE TABLE {table.name} AS SELECT {columns} FROM read_json('{raw}/rows.json', columns = {{{types}}})"
    )
