"""What the catalog remembers of ingestions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hivedruid.catalog.ingestions import MOST_VERSIONS, IngestionRecord, Ingestions
from hivedruid.catalog.store import Catalog
from hivedruid.catalog.table import Table


@pytest.fixture
def table(catalog: Catalog) -> Table:
    return catalog.add(Table("default", "t", "druid", (), properties={"kafka.topic": "k"}))


def test_started_and_stopped(catalog: Catalog, table: Table) -> None:
    ingestions = Ingestions(catalog)
    assert ingestions.find(table.table_id) == IngestionRecord()
    ingestions.begin(table.table_id)
    assert ingestions.find(table.table_id) == IngestionRecord(started=False)
    ingestions.finish(table.table_id, started=True)
    ingestions.begin(table.table_id)
    assert ingestions.all() == {table.table_id: IngestionRecord(started=True)}


def test_specs_are_kept_once_and_not_for_ever(catalog: Catalog, table: Table) -> None:
    ingestions = Ingestions(catalog)
    for number in range(MOST_VERSIONS + 5):
        for _ in range(2):
            ingestions.record_spec(replace(table, properties={"n": str(number)}), {"n": number}, "now")
    specs = ingestions.specs(table.table_id)
    assert [sent.spec["n"] for sent in specs] == list(range(MOST_VERSIONS + 4, 4, -1))
    assert specs[0].table.properties == {"n": str(MOST_VERSIONS + 4)}
    assert ingestions.find(table.table_id).last is None  # it was never begun


def test_the_last_one_worked_and_is_rolled_back(catalog: Catalog, table: Table) -> None:
    ingestions = Ingestions(catalog)
    for number in range(3):
        ingestions.record_spec(replace(table, properties={"n": str(number)}), {"n": number}, "now")
        if number == 0:
            ingestions.mark_working(table.table_id)
        ingestions.begin(table.table_id)
        last = ingestions.find(table.table_id).last
        assert last is not None
        assert (last.spec["n"], last.is_worse) == (number, number > 0)
    assert [sent.worked for sent in ingestions.specs(table.table_id)] == [False, False, True]
    ingestions.roll_back(table.table_id, ingestions.specs(table.table_id)[-1].version)
    assert [sent.spec["n"] for sent in ingestions.specs(table.table_id)] == [0]


def test_it_goes_with_the_table(catalog: Catalog, table: Table) -> None:
    ingestions = Ingestions(catalog)
    ingestions.finish(table.table_id, started=True)
    ingestions.record_spec(table, {}, "now")
    catalog.remove(table)
    assert ingestions.all() == {}
    assert ingestions.specs(table.table_id) == ()
