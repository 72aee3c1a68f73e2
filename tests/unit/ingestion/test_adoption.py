"""The table of a supervisor that another program posted: its spec says everything that the supervisor's says."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from hivedruid.actions.utility.show import create_statement
from hivedruid.catalog.table import Table
from hivedruid.druid.supervisor import supervisor_spec
from hivedruid.ingestion.adoption import Adoption, adoption
from hivedruid.ingestion.compare import changes
from hivedruid.ingestion.lifecycle import IngestionFacts, start
from hivedruid.parser import parse
from hivedruid.parser.statements.ddl import CreateTable
from hivedruid.script import SourceStatement
from hivedruid.tables.definition import define_table
from tests.unit.ingestion.foreign_specs import SPECS

Json = dict[str, Any]


def adopted(spec: Mapping[str, Any], discovered: Mapping[str, str] | None = None, **settings: str) -> Adoption:
    name = spec.get("id") or (spec.get("spec") or spec)["dataSchema"]["dataSource"]
    return adoption(name, spec, settings, discovered or {})


def created(text: str, **settings: str) -> Table:
    statement = parse(SourceStatement(text))
    assert isinstance(statement, CreateTable)
    return define_table(statement, "default", settings, {})


def pasted(spec: Mapping[str, Any], discovered: Mapping[str, str] | None = None, **settings: str) -> Table:
    """The table that the printed CREATE statement of a spec makes."""
    table = replace(adopted(spec, discovered, **settings).table, database="default", name="t")
    return created(create_statement(table), **settings)


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The values of a spec that are neither objects nor lists, with their places; elements of lists by their names."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        for n, item in enumerate(value):
            if path[-1] == "dimensions" and isinstance(item, str):
                item = {"name": item}
            inner = (item.get("aggregator") or {}) if isinstance(item, Mapping) else {}
            name = (item.get("name") or inner.get("name")) if isinstance(item, Mapping) else None
            yield from leaves(item, (*path, str(name or n)))
    elif value is not None:
        yield path, value


SAID_OTHERWISE = {
    "granularities by name": ("hour",),  # HOUR
    "no granularity": ("all", "none"),  # ALL, NONE
    "sketches": (12, 128, "HLL_4"),  # Druid's defaults
    "consumer": (500, False, ""),  # as Druid gives them to Kafka's client
    "scaled": (3,),  # the auto scaler changes it
    "concurrent locks": (True,),  # START adds it
}
"""Values that the table's spec has in another form of the same meaning."""
DEFAULTS = ("SORTED_ARRAY", "roaring", "lz4", "uniform", "iso")


def test_there_are_enough_specs() -> None:
    assert len(SPECS) >= 60


@pytest.mark.parametrize("name", SPECS)
def test_a_spec_survives_the_round_trip(name: str) -> None:
    """Spec, statement, table, spec: no difference for START, and no value that is left out."""
    spec = SPECS[name]
    before = copy.deepcopy(spec)
    table = pasted(spec)
    again = supervisor_spec(table, {})
    assert changes(again, spec, None) == ()
    assert spec == before
    said = {place: value for place, value in leaves(again)}
    missing = [
        (place, value)
        for place, value in leaves({key: item for key, item in spec.items() if key not in ("suspended", "id")})
        if said.get(place, ABSENT) != value and value not in SAID_OTHERWISE.get(name, ()) and value not in DEFAULTS
    ]
    assert missing == []


ABSENT = object()


@pytest.mark.parametrize("name", SPECS)
def test_start_submits_nothing(name: str) -> None:
    spec = SPECS[name]
    table = pasted(spec)
    change = start(table, supervisor_spec(table, {}), IngestionFacts(running=spec))
    paths = [step.text for step in change.steps]
    resumes = [f"POST /druid/indexer/v1/supervisor/{spec['spec']['dataSchema']['dataSource']}/resume"]
    assert paths == [*(resumes if spec.get("suspended") else []), "wait until running"]


@pytest.mark.parametrize("name", SPECS)
def test_a_changed_value_is_a_difference(name: str) -> None:
    """No rule of the comparison is so loose that it would not see another value of a spec."""
    spec = SPECS[name]
    again = supervisor_spec(pasted(spec), {})
    for place, value in leaves(spec["spec"]):
        if value in ("kafka",) or (place[-1] in ("taskCount",) and "autoScalerConfig" in spec["spec"]["ioConfig"]):
            continue
        other = copy.deepcopy(spec)
        if not put(other["spec"], place, "another" if isinstance(value, str) else 77 if not isinstance(value, bool) else not value):
            continue
        assert changes(again, other, None) != (), place


def put(value: Any, place: tuple[str, ...], new: Any) -> bool:
    """Set the value at a place of objects; not in lists."""
    for key in place[:-1]:
        value = value.get(key) if isinstance(value, dict) else None
    if not isinstance(value, dict) or place[-1] not in value:
        return False
    value[place[-1]] = new
    return True
