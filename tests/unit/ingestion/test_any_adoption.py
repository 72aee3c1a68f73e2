"""Combinations of the specs that other programs post, with keys that no property is made for."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hivedruid.druid.supervisor import supervisor_spec
from hivedruid.ingestion.compare import changes
from tests.unit.ingestion.foreign_specs import SPECS
from tests.unit.ingestion.test_adoption import adopted, pasted

Json = dict[str, Any]
Place = tuple[str, ...]

WHOLE = st.sampled_from([spec for spec in SPECS.values() if "spec" in spec])
TEXTS = st.sampled_from(["", "'", '"', "\\", "a.b", "ü", ";", "a\nb", "${x}", "{}", "null", "0", " a", "--", "`"])
VALUES = st.recursive(
    st.one_of(st.booleans(), st.integers(-(10**15), 10**15), st.sampled_from([1.5, 1e-9]), TEXTS),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "b c", "'", "ü"]), inner, max_size=2),
    max_leaves=4,
)  # fmt: skip
PLACES: tuple[Place, ...] = (
    ("context",), *(("spec", part) for part in ("dataSchema", "ioConfig", "tuningConfig")),
    *(("spec", "dataSchema", part) for part in ("timestampSpec", "granularitySpec", "dimensionsSpec")),
    ("spec", "ioConfig", "inputFormat"),
)  # fmt: skip
KEYS = st.sampled_from(
    ["x", "later", "other-1", "a.b", "", '"', '"x"', "\\", ".", "newKey", "my-key", "apiKey", "token"]
)
ADDED = st.lists(st.tuples(st.sampled_from(PLACES), KEYS, VALUES), max_size=3)
CONSUMER = st.dictionaries(st.sampled_from(["client.rack", "x.y"]), TEXTS, max_size=2)


def combined(schema: Json, io: Json, tuning: Json, context: Json) -> Json:
    """A spec with a part of each."""
    spec = copy.deepcopy(schema)
    spec["spec"] |= copy.deepcopy({
        "ioConfig": io["spec"]["ioConfig"], "tuningConfig": tuning["spec"].get("tuningConfig") or {},
    })  # fmt: skip
    return spec | {"context": copy.deepcopy(context.get("context") or {})}


@settings(max_examples=200, deadline=None)
@given(st.builds(combined, WHOLE, WHOLE, WHOLE, WHOLE), ADDED, CONSUMER)
def test_a_combination_survives_the_round_trip(spec: Json, added: list[tuple[Place, str, Any]], consumer: Json) -> None:
    for place, key, value in added:
        part = spec
        for name in place:
            part = part.setdefault(name, {})
        part[key] = value
    spec["spec"]["ioConfig"]["consumerProperties"] |= consumer
    found = adopted(spec)
    table = pasted(spec)
    assert table.properties == found.table.properties
    if not found.variables:
        assert changes(supervisor_spec(table, {}), spec, None) == ()
