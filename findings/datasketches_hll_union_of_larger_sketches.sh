#!/usr/bin/env bash
# datasketches 5.2.0 (Python): a union of HLL sketches of which the sketches are finer than the union (lg_k 12 into a
# union of lg_max_k 10) has the estimate of one sketch, unless get_estimate() is called after each update(). Reading an
# estimate changes the result, and also the sketch that get_result() returns. A union of the same lg_k is not affected.
#
# Seen for three sketches of 3334 other integers each, 10002 in all: 3344.467 for the union of lg_max_k 10 or 11, and
# 10651.998 if the estimate of lg_max_k 10 is read after each update; 9988.680 for lg_max_k 12, read or not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'datasketches==5.2.0' 'numpy==2.3.5'
"$folder/venv/bin/python" - <<'PYTHON'
from datasketches import hll_sketch, hll_union, tgt_hll_type


def sketch(start: int) -> hll_sketch:
    values = hll_sketch(12, tgt_hll_type.HLL_8)
    for value in range(start, start + 3334):
        values.update(value)
    return values


def united(lg_max_k: int, *, reads: bool) -> tuple[float, float]:
    union = hll_union(lg_max_k)
    for start in (0, 3334, 6668):
        union.update(sketch(start))
        if reads:
            union.get_estimate()
    return round(union.get_estimate(), 3), round(union.get_result(tgt_hll_type.HLL_8).get_estimate(), 3)


seen = {(lg, reads): united(lg, reads=reads) for lg in (10, 12) for reads in (False, True)}
print(seen)
assert seen == {
    (10, False): (3344.467, 3344.467), (10, True): (10651.998, 10651.998),
    (12, False): (9988.68, 9988.68), (12, True): (9988.68, 9988.68),
}, "the behaviour has changed"  # fmt: skip
PYTHON
