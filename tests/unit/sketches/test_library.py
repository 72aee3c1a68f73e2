"""Sketches of Druid 33 (`druid33.jsonl`: their bytes, the values that they were made of, and what Druid computed of them)
read, merged and built by the library."""

from __future__ import annotations

import json
import math
import random
from base64 import b64decode
from pathlib import Path
from typing import Any

import datasketches
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivedruid.sketches import library
from hivedruid.sketches.functions import SketchFunction
from hivedruid.sketches.kinds import AGGREGATORS, KINDS, kind_of
from hivedruid.sketches.library import SketchError

VALUES: dict[str, list[Any]] = {
    "strings": [None, "", "a", "é", "日本語", "😀"],
    "longs": [None, 0, -1, 2**53 + 1, 7],
    "doubles": [None, 0.0, -0.0, 1.5, 1e300, 0.1],
    "many strings": [f"v{i}" for i in range(3000)],
    "many doubles": [i / 7 for i in range(1000)],
    "nothing": [],
}
LINES = [json.loads(line) for line in (Path(__file__).parent / "druid33.jsonl").read_text().splitlines()]
FRACTIONS = [0, 0.01, 0.25, 0.5, 0.75, 1]
IDS = [f"{line['kind']}-{line['values']}" for line in LINES]


def same(ours: list[float], druids: list[Any]) -> bool:
    return [str(float(value)) for value in ours] == [str(float(value)) for value in druids]


@pytest.mark.parametrize("line", LINES, ids=IDS)
def test_results_equal_druids_to_the_last_digit(line: dict[str, Any]) -> None:
    kind, sketch = line["kind"], b64decode(line["sketch"])
    if "estimate" in line:
        assert library.estimate(kind, sketch) == line["estimate"]
        assert list(library.bounds(kind, sketch, 2)) == line["bounds"]
    else:
        assert same(library.quantiles(kind, sketch, FRACTIONS), line["quantiles"])
        assert library.count(kind, sketch) == sum(value is not None for value in VALUES[line["values"]])
        assert library.size_of(kind, sketch) == line["size"]
    if line.get("cdf") and line["values"] != "nothing":
        assert library.rank(kind, sketch, 1.5) == line["rank"]
        assert same(library.cdf(kind, sketch, [0.1, 1.5]), line["cdf"])


@pytest.mark.parametrize("line", [line for line in LINES if "estimate" in line], ids=lambda line: line["values"])
def test_values_are_hashed_as_druid_hashes_them(line: dict[str, Any]) -> None:
    kind, size = line["kind"], line["size"]
    druids = library.merge(kind, [b64decode(line["sketch"])], size)
    assert library.build(kind, VALUES[line["values"]], size) == druids


def test_strings_in_utf8_are_hashed_as_the_library_hashes_them() -> None:
    sketch = datasketches.hll_sketch(12, datasketches.HLL_4)
    for value in ("a", "é", "a longer string of more than sixteen bytes"):
        sketch.update(value)
        first = library._coupon(value.encode())
        assert first.to_bytes(4, "little") in sketch.serialize_compact()


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["hll", "theta"]),
    st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=80), max_size=6),
    st.integers(0, 3),
    st.randoms(use_true_random=False),
)
def test_unions_of_distinct_values_do_not_depend_on_order(
    kind: str, parts: list[list[int]], repeated: int, order: random.Random
) -> None:
    size = {"hll": 6, "theta": 32}[kind]
    sketches = [library.build(kind, part, size) for part in parts]
    shuffled = sketches + sketches[:repeated]
    order.shuffle(shuffled)
    half = len(shuffled) // 2
    nested = [library.merge(kind, part, size) for part in (shuffled[:half], shuffled[half:])]
    everything = library.build(kind, [value for part in parts for value in part], size)
    assert library.merge(kind, shuffled, size) == library.merge(kind, nested, size) == everything


@given(st.lists(st.floats(allow_nan=False), max_size=100), st.integers(0, 100))
def test_quantiles_of_few_values_are_exact_in_any_union(values: list[float], at: int) -> None:
    for kind in ("quantiles", "kll_doubles"):
        parts = [library.build(kind, values[:at]), library.build(kind, values[at:])]
        merged = library.merge(kind, parts)
        assert library.count(kind, merged) == len(values)
        if values:
            found = library.quantiles(kind, merged, [0, 1])
            assert found == [min(values), max(values)]
            assert library.rank(kind, merged, max(values)) == 1
        else:
            assert math.isnan(library.quantiles(kind, merged, [0.5])[0])


@pytest.mark.parametrize("kind", ["hll", "theta", "quantiles", "kll_doubles", "kll_floats"])
@pytest.mark.parametrize("damaged", [b"", b"abc", bytes(40), b"\xff" * 64])
def test_other_bytes_are_refused(kind: str, damaged: bytes) -> None:
    with pytest.raises(SketchError, match="is not a sketch of the kind"):
        library.merge(kind, [damaged])


def test_a_sketch_of_another_kind_is_refused() -> None:
    with pytest.raises(SketchError, match="of the kind theta"):
        library.estimate("theta", library.build("hll", ["a"]))


def test_set_operations_of_theta_sketches() -> None:
    left, right = library.build("theta", ["a", "b", "c"]), library.build("theta", ["b", "c", "d"])
    assert library.estimate("theta", library.intersection([left, right])) == 2
    assert library.estimate("theta", library.difference(left, right)) == 1


def test_functions_have_hives_results() -> None:
    sketch = SketchFunction("ds_quantile_doubles_sketch")([1.5, 2.5, 3.5, 4.5])
    assert SketchFunction("ds_quantile_doubles_quantiles")(sketch, 0, 0.25, 0.5, 0.75, 1) == [1.5, 2.5, 3.5, 4.5, 4.5]
    assert SketchFunction("ds_quantile_doubles_quantiles")(
        SketchFunction("ds_quantile_doubles_sketch")([1.5, 2.5, 3.5]), 3
    ) == [
        1.5,
        2.5,
        3.5,
    ]
    assert SketchFunction("ds_quantile_doubles_cdf")(sketch, 2.5, 3) == [0.25, 0.5, 1]
    assert SketchFunction("ds_quantile_doubles_pmf")(sketch, 2.5, 3) == [0.25, 0.25, 0.5]
    assert (SketchFunction("ds_quantile_doubles_n")(sketch), SketchFunction("ds_quantile_doubles_k")(sketch)) == (
        4,
        128,
    )
    assert SketchFunction("ds_hll_estimate_bounds")("AgEHDAMIAwDhUv8PFxU2ByD2Ggc=") == [
        3.000000014901161,
        3.0,
        3.000299605364685,
    ]
    assert SketchFunction("ds_theta_estimate")(None) == 0
    assert SketchFunction("ds_theta_estimate")(b"\0") == 0
    assert SketchFunction("ds_hll_estimate")(None) is None
    distinct = SketchFunction("ds_theta_sketch")(["a", "b", ""])
    for name, args, count in (
        ("ds_theta_union_f", (distinct, None), 2),
        ("ds_theta_union_f", (None, None), 0),
        ("ds_theta_intersect_f", (distinct, None), 0),
        ("ds_theta_exclude", (distinct, None), 2),
        ("ds_theta_exclude", (None, distinct), 0),
        ("ds_theta_exclude", (distinct, b""), 2),
        ("ds_theta_union_f", (b"\0", distinct), 2),
    ):
        assert SketchFunction("ds_theta_estimate")(SketchFunction(name)(*args)) == count
    with pytest.raises(SketchError, match="base64"):
        SketchFunction("ds_hll_estimate")("not base64")


def test_a_union_of_larger_hll_sketches_has_the_registers_of_their_values() -> None:
    """Version 5.2 of the library estimates with sums of registers that it lost if its estimate is not read between."""
    parts = [range(start, 9000, 3) for start in range(3)]
    union = library.merge("hll", [library.build("hll", part, 12) for part in parts], 10)
    assert union == library.build("hll", range(9000), 10)
    assert abs(library.estimate("hll", union) / 9000 - 1) < 0.15


def test_a_quantiles_sketch_without_values_has_hives_results() -> None:
    empty = SketchFunction("ds_quantile_doubles_sketch")([math.nan])
    assert math.isnan(SketchFunction("ds_quantile_doubles_quantile")(empty, 0.5))
    for name in ("quantiles", "cdf", "pmf"):
        assert SketchFunction(f"ds_quantile_doubles_{name}")(empty, 0.5) is None
    assert SketchFunction("ds_quantile_doubles_n")(empty) == 0


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("quantile", (1.5,), "a fraction must be between 0 and 1, not 1.5"),
        ("quantiles", (0,), "the number of fractions must be positive, not 0"),
        ("cdf", (2.0, 1.0), "the points must be ascending numbers, not 2.0, 1.0"),
        ("pmf", (math.nan,), "the points must be ascending numbers, not nan"),
    ],
)
def test_wrong_arguments_are_refused(name: str, args: tuple[Any, ...], message: str) -> None:
    sketch = SketchFunction("ds_quantile_doubles_sketch")([1.0, 2.0])
    with pytest.raises(SketchError, match=f"the function ds_quantile_doubles_{name}.. failed: {message}"):
        SketchFunction(f"ds_quantile_doubles_{name}")(sketch, *args)


def test_kinds_are_found_by_their_types() -> None:
    assert kind_of("COMPLEX<HLLSketchBuild>") is KINDS["hll"] is AGGREGATORS["HLLSketchMerge"]
    assert kind_of("COMPLEX<json>") is None is kind_of("STRING")
