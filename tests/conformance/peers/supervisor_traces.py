"""The specs that Hive's own handler sent to the overlord in each scenario mean the same as ours, except for the listed
differences.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.cases import folder, read_json
from tests.unit.druid.test_supervisor_traces import compare

REFUSED = {
    "odd value useEarliestOffset='yes'": "Hive reads yes as false",
    "odd value unknownThing='1'": "Hive ignores keys that it does not know",
    "csv columns lacking the timestamp": "no record could be parsed",
    "delimited delimiter equals listDelimiter": "Druid 33 refuses it",
    "__time as string": "Hive takes the time for a dimension",
    "missing topic = not streaming": "START of a table without a topic is a mistake",
}
"""Scenarios that Hive accepts and we refuse, and the reason."""

ACCEPTED = {
    "tsv is not accepted": "Hive's own message lists it",
    "upper-case __TIME": "names are lower case before they are checked",
    "column type array<string>": "a dimension with several values; Hive's handler breaks off with a ClassCastException",
    "alter without datasource": "the data source is then called as the table",
}
"""Scenarios that fail in Hive's handler and not here, and the reason."""


def scenarios() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read_json(folder() / "hive" / "kafka_supervisor_traces.json")
    return found


@pytest.mark.parametrize("case", scenarios(), ids=lambda case: case["name"])
def test_the_same_meaning_as_hives(case: dict[str, Any]) -> None:
    compare(case, refused=REFUSED, accepted=ACCEPTED)


def test_the_lists_of_differences_name_scenarios() -> None:
    assert set(REFUSED) | set(ACCEPTED) <= {case["name"] for case in scenarios()}
