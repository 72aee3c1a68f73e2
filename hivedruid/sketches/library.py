"""Sketches as bytes, computed with Apache DataSketches' library. Each function takes and returns bytes.

Values are hashed as Druid's aggregators hash them (measured on Druid 33): HLLSketchBuild hashes the UTF-16 code units
of a string, little-endian, unless its stringEncoding is utf8; thetaSketch hashes UTF-8. Whole numbers are hashed as 64
bits, others as doubles. All ignore null and the empty string.

A union of HLL sketches estimates with the registers alone. The library also keeps an estimator that depends on the
order in which sketches arrive (HIP); a union leaves it out, so that the same sketches have one estimate in any order.
The union of theta sketches of the same size is the same in any order. A union of quantiles or KLL sketches is random
unless it retains all values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hivedruid.sketches.kinds import KINDS

Value = str | int | float
_SEED = 9001
"""org.apache.datasketches.common.Util.DEFAULT_UPDATE_SEED."""
_MASK = (1 << 64) - 1
_C1, _C2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
_OUT_OF_ORDER = 0x10
"""The flag in byte 5 of an HLL sketch: the HIP estimator is not valid (PreambleUtil.OUT_OF_ORDER_FLAG_MASK)."""
_IN_LIST = 7
"""The coupons that a sketch in the mode LIST can have before it becomes a SET."""


class SketchError(ValueError):
    """The bytes are not a sketch of the kind."""


def build(kind: str, values: Iterable[Value | None], size: int | None = None, *, utf8: bool = False) -> bytes:
    """A sketch of values of one type: strings or numbers. `size` is that of Druid's aggregator (`SketchKind.size`);
    `utf8`: Druid's stringEncoding of HLL sketches."""
    size = size or KINDS[kind].default_size
    present = [value for value in values if value is not None and value != ""]
    match kind:
        case "hll":
            return _built_hll(present, size, utf8=utf8)
        case "theta":
            return _built_theta(present, size)
        case "quantiles" | "kll_doubles" | "kll_floats":
            sketch = _quantiles_class(kind)(size)
            for value in present:
                if not math.isnan(float(value)):
                    sketch.update(float(value))
            return bytes(sketch.serialize())
    raise SketchError(f"sketches of the kind {kind} cannot be built in this process")


def merge(kind: str, sketches: Iterable[bytes], size: int | None = None) -> bytes:
    """The union of sketches of one kind. `size` is the largest of the result."""
    size = size or KINDS[kind].default_size
    match kind:
        case "hll":
            return _merged_hll(sketches, size)
        case "theta":
            return _merged_theta(sketches, size)
        case "quantiles" | "kll_doubles" | "kll_floats":
            merged = _quantiles_class(kind)(size)
            for each in sketches:
                merged.merge(_read(kind, each))
            return bytes(merged.serialize())
    raise SketchError(f"sketches of the kind {kind} cannot be merged in this process")


def estimate(kind: str, sketch: bytes) -> float:
    """The estimated number of distinct values of an hll, theta or tuple sketch, or a hyperUnique."""
    return float(_read(kind, sketch).get_estimate())


def bounds(kind: str, sketch: bytes, deviations: int = 1) -> tuple[float, float, float]:
    """The estimate, and its lower and upper bound at 1, 2 or 3 standard deviations."""
    read = _read(kind, sketch)
    return read.get_estimate(), read.get_lower_bound(deviations), read.get_upper_bound(deviations)


def intersection(sketches: Iterable[bytes]) -> bytes:
    """The theta sketch of the values that are in all of the theta sketches, of which there is at least one."""
    import datasketches

    common = datasketches.theta_intersection(seed=_SEED)
    for each in sketches:
        common.update(_read("theta", each))
    return bytes(common.get_result().serialize())


def difference(sketch: bytes, without: bytes) -> bytes:
    """The theta sketch of the values of the first that are not in the second."""
    import datasketches

    left = datasketches.theta_a_not_b(seed=_SEED)
    return bytes(left.compute(_read("theta", sketch), _read("theta", without)).serialize())


def quantiles(kind: str, sketch: bytes, fractions: Sequence[float], *, inclusive: bool = True) -> list[float]:
    """The values at these fractions (0 to 1); NaN in an empty sketch. `inclusive` is Druid's criterion."""
    read = _read(kind, sketch)
    if read.is_empty():
        return [math.nan] * len(fractions)
    return [float(read.get_quantile(fraction, inclusive)) for fraction in fractions]


def rank(kind: str, sketch: bytes, value: float, *, inclusive: bool = True) -> float:
    """The fraction of the values up to this one; NaN in an empty sketch."""
    read = _read(kind, sketch)
    return math.nan if read.is_empty() else float(read.get_rank(value, inclusive))


def cdf(kind: str, sketch: bytes, points: Sequence[float], *, inclusive: bool = True) -> list[float]:
    """The fractions of the values up to each of the ascending points, and 1; empty for an empty sketch."""
    read = _read(kind, sketch)
    return [] if read.is_empty() else [float(part) for part in read.get_cdf(list(points), inclusive)]


def pmf(kind: str, sketch: bytes, points: Sequence[float], *, inclusive: bool = True) -> list[float]:
    """The fractions of the values between the ascending points; empty for an empty sketch."""
    read = _read(kind, sketch)
    return [] if read.is_empty() else [float(part) for part in read.get_pmf(list(points), inclusive)]


def count(kind: str, sketch: bytes) -> int:
    """The number of values that a quantiles or KLL sketch was made of."""
    return int(_read(kind, sketch).n)


def size_of(kind: str, sketch: bytes) -> int:
    """The size of a sketch: lgK of an hll sketch, k of a quantiles or KLL sketch."""
    read = _read(kind, sketch)
    return int(read.lg_config_k if kind == "hll" else read.k)


def to_text(kind: str, sketch: bytes) -> str:
    """A summary of the sketch in several lines, as the library writes it."""
    return str(_read(kind, sketch).to_string())


def _read(kind: str, sketch: bytes) -> Any:
    import datasketches

    try:
        match kind:
            case "hll":
                return datasketches.hll_sketch.deserialize(sketch)
            case "theta":
                return datasketches.compact_theta_sketch.deserialize(sketch, _SEED)
            case "tuple":
                return datasketches.compact_tuple_sketch.deserialize(sketch, datasketches.PyDoublesSerDe(), _SEED)
            case "quantiles" | "kll_doubles" | "kll_floats":
                return _quantiles_class(kind).deserialize(sketch)
    except (RuntimeError, ValueError, IndexError) as error:
        raise SketchError(f"the value is not a sketch of the kind {kind}: {error}") from error
    raise SketchError(f"sketches of the kind {kind} cannot be read in this process")


def _quantiles_class(kind: str) -> Any:
    import datasketches

    classes: dict[str, Callable[..., Any]] = {
        "quantiles": datasketches.quantiles_doubles_sketch,
        "kll_doubles": datasketches.kll_doubles_sketch,
        "kll_floats": datasketches.kll_floats_sketch,
    }
    return classes[kind]


def _built_theta(values: Iterable[Value], size: int) -> bytes:
    import datasketches

    sketch = datasketches.update_theta_sketch(lg_k=_log2(size), seed=_SEED)
    for value in values:
        sketch.update(value)
    sketch.trim()
    return bytes(sketch.compact().serialize())


def _merged_theta(sketches: Iterable[bytes], size: int) -> bytes:
    import datasketches

    union = datasketches.theta_union(lg_k=_log2(size), seed=_SEED)
    for each in sketches:
        union.update(_read("theta", each))
    return bytes(union.get_result().serialize())


def _log2(size: int) -> int:
    if size & (size - 1) or size < 16:
        raise SketchError(f"the size of a sketch must be a power of 2 from 16, not {size}")
    return size.bit_length() - 1


def _built_hll(values: Iterable[Value], size: int, *, utf8: bool) -> bytes:
    import datasketches

    sketch = datasketches.hll_sketch(size, datasketches.HLL_4)
    coupons: list[int] = []
    for value in values:
        if isinstance(value, str) and not utf8:
            coupons.append(_coupon(value.encode("utf-16-le", "surrogatepass")))
        else:
            sketch.update(value)
    parts = [_list_sketch(coupons[start : start + _IN_LIST], size) for start in range(0, len(coupons), _IN_LIST)]
    return _merged_hll([bytes(sketch.serialize_compact()), *parts], size)


def _merged_hll(sketches: Iterable[bytes], size: int) -> bytes:
    import datasketches

    union = datasketches.hll_union(size)
    for each in sketches:
        sketch = _read("hll", each)
        union.update(sketch)
        if sketch.lg_config_k > size:  # version 5.2 would lose the registers' sums with the next update
            union.get_estimate()
    return _without_order(bytes(union.get_result(datasketches.HLL_4).serialize_compact()))


def _without_order(sketch: bytes) -> bytes:
    """An HLL sketch with the estimator of registers. Sketches in the modes LIST (0) and SET (1) have no other; theirs
    contain coupons after the preamble, whose length in 4 bytes is the first byte."""
    mode = sketch[7] & 3
    if mode < 2:
        start = 4 * sketch[0]
        coupons = (sketch[at : at + 4] for at in range(start, len(sketch), 4))
        return sketch[:start] + b"".join(sorted(coupons))
    return sketch[:5] + bytes([sketch[5] | _OUT_OF_ORDER]) + sketch[6:8] + bytes(8) + sketch[16:]


def _list_sketch(coupons: Sequence[int], lg_k: int) -> bytes:
    """A sketch in the mode LIST (HllUtil): 8 bytes of preamble, and 4 of each distinct coupon."""
    distinct = sorted(set(coupons))
    preamble = bytes([2, 1, 7, lg_k, 3, 8 if distinct else 12, len(distinct), 0])
    return preamble + b"".join(coupon.to_bytes(4, "little") for coupon in distinct)


def _coupon(data: bytes) -> int:
    """What an HLL sketch keeps of a value: 26 bits of the first half of its hash, and the zeros before the second,
    at most 62, plus 1 (HllUtil.coupon)."""
    first, second = _murmur3(data)
    zeros = min(64 - second.bit_length(), 62)
    return (zeros + 1) << 26 | first & 0x3FFFFFF


def _murmur3(data: bytes) -> tuple[int, int]:
    """MurmurHash3_x64_128 of the bytes, which the library does not compute for other bytes than UTF-8."""
    first = second = _SEED
    whole = len(data) & ~15
    for at in range(0, whole, 16):
        first ^= _mixed(int.from_bytes(data[at : at + 8], "little"), _C1, 31, _C2)
        first = (_rotated(first, 27) + second) * 5 + 0x52DCE729 & _MASK
        second ^= _mixed(int.from_bytes(data[at + 8 : at + 16], "little"), _C2, 33, _C1)
        second = (_rotated(second, 31) + first) * 5 + 0x38495AB5 & _MASK
    rest = data[whole:]
    second ^= _mixed(int.from_bytes(rest[8:], "little"), _C2, 33, _C1)
    first ^= _mixed(int.from_bytes(rest[:8], "little"), _C1, 31, _C2)
    first, second = first ^ len(data), second ^ len(data)
    first = first + second & _MASK
    second = second + first & _MASK
    first, second = _finished(first), _finished(second)
    first = first + second & _MASK
    return first, second + first & _MASK


def _mixed(block: int, before: int, bits: int, after: int) -> int:
    return _rotated(block * before & _MASK, bits) * after & _MASK


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> 64 - bits) & _MASK


def _finished(value: int) -> int:
    value = (value ^ value >> 33) * 0xFF51AFD7ED558CCD & _MASK
    value = (value ^ value >> 33) * 0xC4CEB9FE1A85EC53 & _MASK
    return value ^ value >> 33
