"""The kinds of sketches that Druid stores, as a table. Pure, without imports of libraries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from hivedruid.lazy_dataclass import dataclass

DATASKETCHES = "druid-datasketches"
"""The extension of Druid with the sketches of Apache DataSketches."""


@dataclass(frozen=True)
class SketchKind:
    """A kind of sketch.

    `druid_types`: the Druid types of columns with it; the first is that of results. All have the same bytes.
    `build` and `merge`: the aggregators that make a sketch of values and of sketches; None if there is none.
    `build_fields` and `merge_fields`: the fields that such an aggregator has besides type, name and fieldName.
    `size`: the field with the size of the sketch; `default_size`: Druid's value without that field, also for
    sketches that this process makes. `counts_distinct`: it estimates the number of distinct values. `extension`: of
    Druid; None for its core. `is_property`: druid.columns.aggregators accepts `build`. `empty`: the
    sketch, in base64, that a scan query returns where a segment contains no bytes; "" if the segment then has a null.
    """

    name: str
    druid_types: tuple[str, ...]
    build: str
    merge: str
    size: str | None
    default_size: int
    build_fields: Mapping[str, object] = field(default_factory=dict)
    merge_fields: Mapping[str, object] = field(default_factory=dict)
    counts_distinct: bool = False
    extension: str | None = DATASKETCHES
    is_property: bool = False
    empty: str = ""


def _types(name: str) -> tuple[str, ...]:
    return tuple(f"COMPLEX<{name}{suffix}>" for suffix in ("", "Build", "Merge"))


KINDS: Mapping[str, SketchKind] = {
    kind.name: kind
    for kind in (
        SketchKind(
            "hyperUnique", ("COMPLEX<hyperUnique>",), "hyperUnique", "hyperUnique", None, 2048,
            merge_fields={"isInputHyperUnique": True}, counts_distinct=True, extension=None,
            is_property=True,
        ),
        SketchKind(
            "theta", _types("thetaSketch"), "thetaSketch", "thetaSketch", "size", 16384,
            merge_fields={"isInputThetaSketch": True}, counts_distinct=True,
            is_property=True, empty="AQMDAAAeAAA=",
        ),
        SketchKind(
            "hll", _types("HLLSketch"), "HLLSketchBuild", "HLLSketchMerge", "lgK", 12,
            build_fields={"tgtHllType": "HLL_4"}, merge_fields={"tgtHllType": "HLL_4"}, counts_distinct=True,
            is_property=True,
        ),
        SketchKind(
            "quantiles", _types("quantilesDoublesSketch"), "quantilesDoublesSketch", "quantilesDoublesSketch", "k", 128,
            is_property=True, empty="AQMIHoAAAAA=",
        ),
        SketchKind(
            "kll_doubles", _types("KllDoublesSketch"), "KllDoublesSketch", "KllDoublesSketch", "k", 200,
            empty="AgEPAcgACAA=",
        ),
        SketchKind(
            "kll_floats", _types("KllFloatsSketch"), "KllFloatsSketch", "KllFloatsSketch", "k", 200,
            empty="AgEPAcgACAA=",
        ),
        SketchKind(
            "tuple", _types("arrayOfDoublesSketch"), "arrayOfDoublesSketch", "arrayOfDoublesSketch", "nominalEntries",
            16384, build_fields={"numberOfValues": 1}, merge_fields={"numberOfValues": 1},
            counts_distinct=True,
        ),
    )
}  # fmt: skip
"""By name. Sizes are those of Druid 33: HllSketchAggregatorFactory.DEFAULT_LG_K, SketchAggregatorFactory's
DEFAULT_MAX_SKETCH_SIZE, DoublesSketchAggregatorFactory's and KllSketchAggregatorFactory's default k; a hyperUnique has
2048 registers."""

_BY_TYPE = {type_: kind for kind in KINDS.values() for type_ in kind.druid_types}

AGGREGATORS: Mapping[str, SketchKind] = {name: kind for kind in KINDS.values() for name in (kind.build, kind.merge)}
"""The kind of each aggregator's result."""

PROPERTY_AGGREGATORS = tuple(kind.build for kind in KINDS.values() if kind.is_property)
"""The aggregators that the property druid.columns.aggregators accepts."""


def kind_of(druid_type: str) -> SketchKind | None:
    """The kind of the sketches of a column of this Druid type, such as `COMPLEX<HLLSketchBuild>`; None for others."""
    return _BY_TYPE.get(druid_type)
