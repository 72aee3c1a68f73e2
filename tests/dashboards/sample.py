"""The tables that the dashboards' queries read, in an embedded store, without Spark."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hivedruid.session import Session
from tests.support.loads import ingest

NOW = "2026-01-15 10:30:00"
SALES = """CREATE EXTERNAL TABLE sales (`__time` timestamp, country string, city string, product string, category string, channel string,
 customer bigint, qty int, cents bigint, price double, is_new boolean) STORED BY 'druid' TBLPROPERTIES ('druid.datasource' = 'sales')"""
REGIONS = """CREATE EXTERNAL TABLE regions (`__time` timestamp, country string, region string, population bigint)
 STORED BY 'druid' TBLPROPERTIES ('druid.datasource' = 'regions')"""
_COUNTRIES = (
    "france",
    "germany",
    "peru",
    "japan",
    "new zealand",
    "côte d'ivoire",
    "chile",
    "kenya",
    "india",
    "norway",
    None,
)
_CATEGORIES = ("books", "games", "music", "tools")
_BEGIN = datetime(2025, 11, 20, tzinfo=UTC)


def sales() -> Iterator[dict[str, Any]]:
    """Some 1,400 rows of 56 days; one day has none, `price` is cents / 64, so that its sums are exact."""
    for i in range(1400):
        moment = _BEGIN + timedelta(minutes=57 * i + i % 13)
        if moment.date().isoformat() == "2026-01-03":
            continue
        number = i * i * 31 + i * 7
        country = _COUNTRIES[number % 97 % len(_COUNTRIES)]
        category = _CATEGORIES[number % 11 % len(_CATEGORIES)]
        cents = number % 9973 + 99
        yield {
            "__time": int(moment.timestamp() * 1000),
            "country": country,
            "city": None if country is None else f"{country} city {number % 5}",
            "product": f"{category} {number % 7}",
            "category": category,
            "channel": ("web", "shop", "app", "web")[number % 17 % 4],
            "customer": number % 211,
            "qty": number % 9 + 1,
            "cents": cents,
            "price": cents / 64,
            "is_new": number % 19 < 4,
        }


def regions() -> Iterator[dict[str, Any]]:
    names = ("Europe", "Europe", "America", "Asia", "Oceania", "Africa", "America", "Africa", "Asia", "Europe")
    pairs = [*zip(_COUNTRIES[:-1], names, strict=True), ("samoa", "Oceania")]
    for i, (country, region) in enumerate(pairs):
        yield {"__time": 0, "country": country, "region": region, "population": (i + 1) * 1_234_567}


def fill(session: Session, folder: Path) -> None:
    """Both tables with their rows, by the tasks that a cluster would run."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows, create in (("sales", sales(), SALES), ("regions", regions(), REGIONS)):
        path = folder / f"{name}.json"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        for statement in session.statements(create):
            session.execute(statement)
        ingest(session.store, _task(session, name, path))


_DRUID = {"string": "string", "bigint": "long", "int": "long", "double": "double", "boolean": "long"}


def _task(session: Session, name: str, path: Path) -> dict[str, Any]:
    table = session.catalog.find("default", name)
    assert table is not None
    dimensions = [{"type": _DRUID[str(c.type)], "name": c.name} for c in table.columns if c.name != "__time"]
    schema = {
        "dataSource": name,
        "timestampSpec": {"column": "__time", "format": "millis"},
        "dimensionsSpec": {"dimensions": dimensions},
        "metricsSpec": [],
        "granularitySpec": {"segmentGranularity": "MONTH", "queryGranularity": "NONE", "rollup": False},
    }
    source = {"type": "local", "baseDir": str(path.parent), "filter": path.name}
    io = {"type": "index_parallel", "inputSource": source, "inputFormat": {"type": "json"}}
    return {"type": "index_parallel", "spec": {"dataSchema": schema, "ioConfig": io}}


def queries() -> list[str]:
    """The queries, without the comments between them."""
    from hivedruid import script

    path = Path(__file__).with_name("dashboard.sql")
    return [statement.text.strip() for statement in script.split(path.read_text(encoding="utf-8"), None)]
