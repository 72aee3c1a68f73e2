"""Hive's functions of sketches (`ds_…`, DataSketchesFunctions) as Python functions of values.

A sketch is an argument as bytes, or as a string in base64, which a column of Druid returns. An aggregate is a function
of the list of its values without NULLs, and returns NULL for an empty one. The defaults of sizes are Hive's.
"""

from __future__ import annotations

import binascii
import math
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from hivedruid.lazy_dataclass import dataclass
from hivedruid.sketches import library
from hivedruid.sketches.library import SketchError

Sketch = bytes | str
HLL, THETA, QUANTILES = "hll", "theta", "quantiles"
MARK = "the function "
"""The beginning of the messages of errors."""
_THETA_SIZE = 4096
"""The default of Hive's theta sketches (ThetaSketch's DEFAULT_NOMINAL_ENTRIES); Druid's is larger."""

_EMPTY = 8
"""The bytes of a theta sketch without values; Hive reads fewer, too, as one (EstimateSketchUDF, UnionSketchUDF)."""


def sketch_bytes(value: Sketch) -> bytes:
    """The bytes of an argument. Raises SketchError for a string that is not base64."""
    if not isinstance(value, str):
        return bytes(value)
    try:
        return b64decode(value, validate=True)
    except binascii.Error as error:
        raise SketchError(f"the string is not a sketch in base64: {error}") from error


def _built(kind: str, default: int) -> Callable[..., bytes | None]:
    def build(values: Sequence[Any], size: int = default) -> bytes | None:
        return library.build(kind, values, _rounded_up(kind, size)) if values else None

    return build


def _merged(kind: str, default: int) -> Callable[..., bytes | None]:
    def merge(sketches: Sequence[Sketch], size: int = default) -> bytes | None:
        return library.merge(kind, map(sketch_bytes, sketches), _rounded_up(kind, size)) if sketches else None

    return merge


def _rounded_up(kind: str, size: int) -> int:
    """The size of a theta sketch is a power of 2 (ThetaUtil.checkNomLongs)."""
    return 1 << (size - 1).bit_length() if kind == THETA else size


def _intersected(sketches: Sequence[Sketch]) -> bytes | None:
    return library.intersection(map(sketch_bytes, sketches)) if sketches else None


def _united(kind: str, default: int) -> Callable[..., bytes]:
    def unite(first: Sketch | None, second: Sketch | None, size: int | None = default) -> bytes:
        present = [sketch_bytes(each) for each in (first, second) if each is not None]
        if kind == THETA:
            present = [each for each in present if len(each) >= _EMPTY]
        return library.merge(kind, present, _rounded_up(kind, size or default))

    return unite


def _or_empty(sketch: Sketch | None) -> bytes:
    return (b"" if sketch is None else sketch_bytes(sketch)) or library.build(THETA, ())


def _common(first: Sketch | None, second: Sketch | None) -> bytes:
    return library.intersection(map(_or_empty, (first, second)))


def _without(first: Sketch | None, second: Sketch | None) -> bytes:
    return library.difference(_or_empty(first), _or_empty(second))


def _of(read: Callable[..., Any], kind: str) -> Callable[..., Any]:
    """A function of the library of one sketch."""
    return lambda sketch: read(kind, sketch_bytes(sketch))


def _theta_estimate(sketch: Sketch | None) -> float:
    present = b"" if sketch is None else sketch_bytes(sketch)
    return library.estimate(THETA, present) if len(present) > _EMPTY else 0.0


def _hll_bounds(sketch: Sketch, deviations: int = 2) -> list[float]:
    if deviations not in (1, 2, 3):
        raise SketchError(f"the number of standard deviations must be 1, 2 or 3, not {deviations}")
    return list(library.bounds(HLL, sketch_bytes(sketch), deviations))


def _quantile(sketch: Sketch, fraction: float) -> float:
    return _at(sketch_bytes(sketch), [fraction])[0]


def _quantiles(sketch: Sketch, *fractions: float) -> list[float] | None:
    """At some fractions, or at a number of equal steps, which is an integer; None for an empty sketch."""
    steps = fractions[0] if len(fractions) == 1 and isinstance(fractions[0], int) else None
    if steps is not None and steps < 1:
        raise SketchError(f"the number of fractions must be positive, not {steps}")
    at = fractions if steps is None else [place / (steps - 1) if place else 0.0 for place in range(steps)]
    return _unless_empty(sketch_bytes(sketch), lambda present: _at(present, at))


def _at(sketch: bytes, fractions: Sequence[float]) -> list[float]:
    """Quantiles as Hive's version of the library computes them: a value is not part of its own rank."""
    for fraction in fractions:
        if not 0 <= fraction <= 1:
            raise SketchError(f"a fraction must be between 0 and 1, not {fraction}")
    return library.quantiles(QUANTILES, sketch, fractions, inclusive=False)


def _distribution(read: Callable[..., list[float]]) -> Callable[..., list[float] | None]:
    def distribution(sketch: Sketch, *points: float) -> list[float] | None:
        if any(map(math.isnan, points)) or any(low >= high for low, high in pairwise(points)):
            raise SketchError(f"the points must be ascending numbers, not {', '.join(map(str, points))}")
        return _unless_empty(sketch_bytes(sketch), lambda present: read(QUANTILES, present, points, inclusive=False))

    return distribution


def _unless_empty(sketch: bytes, read: Callable[[bytes], list[float]]) -> list[float] | None:
    return read(sketch) if library.count(QUANTILES, sketch) else None


SCALARS: Mapping[str, Callable[..., Any]] = {
    "ds_hll_estimate": _of(library.estimate, HLL),
    "ds_hll_estimate_bounds": _hll_bounds,
    "ds_hll_union_f": _united(HLL, 12),
    "ds_theta_estimate": _theta_estimate,
    "ds_theta_union_f": _united(THETA, _THETA_SIZE),
    "ds_theta_intersect_f": _common,
    "ds_theta_exclude": _without,
    "ds_quantile_doubles_n": _of(library.count, QUANTILES),
    "ds_quantile_doubles_k": _of(library.size_of, QUANTILES),
    "ds_quantile_doubles_quantile": _quantile,
    "ds_quantile_doubles_quantiles": _quantiles,
    "ds_quantile_doubles_cdf": _distribution(library.cdf),
    "ds_quantile_doubles_pmf": _distribution(library.pmf),
}
"""Functions of the values of a row."""

AGGREGATES: Mapping[str, Callable[..., Any]] = {
    "ds_hll_sketch": _built(HLL, 12),
    "ds_hll_union": _merged(HLL, 12),
    "ds_theta_sketch": _built(THETA, _THETA_SIZE),
    "ds_theta_union": _merged(THETA, _THETA_SIZE),
    "ds_theta_intersect": _intersected,
    "ds_quantile_doubles_sketch": _built(QUANTILES, 128),
    "ds_quantile_doubles_union": _merged(QUANTILES, 128),
}
"""Functions of the list of values of a group."""

OF_NULLS = frozenset(
    {"ds_theta_estimate", "ds_hll_union_f", "ds_theta_union_f", "ds_theta_intersect_f", "ds_theta_exclude"}
)
"""Functions to which NULL is an empty sketch, as in Hive; the others return NULL for it."""


@dataclass(frozen=True)
class SketchFunction:
    """A function by its name, with Hive's results for NULL: Spark's workers import it. Raises SketchError."""

    name: str

    def __call__(self, *args: Any) -> Any:
        if None in args and self.name not in OF_NULLS:
            return None
        function = SCALARS.get(self.name) or AGGREGATES[self.name]
        try:
            return function(*args)
        except SketchError as error:
            raise SketchError(f"{MARK}{self.name}() failed: {error}") from error
