"""The functions of sketches in this process have Hive's results, of which tests/hive/answers.jsonl has the expressions."""

from __future__ import annotations

import re
from base64 import b64encode
from typing import Any

import pytest

from hivedruid.evaluation.exactness import NotLocal
from hivedruid.evaluation.relations import Evaluator
from hivedruid.plan.sketch_calls import AGGREGATES, SCALARS
from tests.hive.answers import Answer, kept, plain, read, same
from tests.support.planning import plan

ANSWERS = [answer for answer in kept() if re.search(r"\bds_", answer.expression)]
_BYTES = re.compile(r"unhex\('([0-9a-fA-F]*)'\)")


def evaluated(sql: str) -> list[tuple[Any, ...]]:
    return Evaluator("UTC", lambda _: None).relation(plan(sql, rules=()).node)()


def value_of(answer: Answer) -> Any:
    """The value, with sketches in base64 and without the hex() around one."""
    expression = answer.expression
    if is_hex := expression.startswith("hex("):
        expression = expression.removeprefix("hex(").removesuffix(")")
    in_base64 = _BYTES.sub(lambda found: f"unbase64('{b64encode(bytes.fromhex(found[1])).decode()}')", expression)
    ((value,),) = evaluated(f"SELECT {in_base64}")
    return value.hex().upper() if is_hex else value


def test_every_function_of_one_row_has_answers() -> None:
    assert {name for name in SCALARS if not any(f"{name}(" in answer.expression for answer in ANSWERS)} == set()


def test_the_functions_answer_as_hive_does() -> None:
    wrong = [
        f"{answer.expression}: {value!r} instead of {answer.value!r}"
        for answer in ANSWERS
        if not same(plain(value := value_of(answer)), read(answer.value, answer.type), answer.type)
    ]
    assert not wrong, "\n".join(wrong)


ROWS = "(VALUES ('a', 1, 1.5D), ('b', 2, 2.5D), ('a', 2, CAST(NULL AS DOUBLE))) AS v (k, n, d)"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("ds_theta_estimate(ds_theta_sketch(k))", 2.0),
        ("ds_theta_estimate(ds_theta_sketch(n, 32))", 2.0),
        ("ds_theta_estimate(ds_theta_sketch(k) FILTER (WHERE n = 2))", 2.0),
        ("ds_hll_estimate(ds_hll_sketch(d, 8))", 2.000000004967054),
        ("ds_quantile_doubles_quantiles(ds_quantile_doubles_sketch(d), 2)", (1.5, 2.5)),
        ("ds_quantile_doubles_n(ds_quantile_doubles_sketch(DISTINCT n))", 2),
        ("ds_hll_sketch(k) FILTER (WHERE n > 2)", None),
    ],
)
def test_aggregates(call: str, expected: Any) -> None:
    assert evaluated(f"SELECT {call} FROM {ROWS}") == [(expected,)]


def test_unions_and_intersections() -> None:
    parts = f"(SELECT n, ds_theta_sketch(k) t, ds_hll_sketch(k) h, ds_quantile_doubles_sketch(d) q FROM {ROWS} GROUP BY n) x"
    calls = (
        "ds_theta_estimate(ds_theta_union(t)), ds_theta_estimate(ds_theta_intersect(t)), ds_hll_estimate(ds_hll_union(h)),"
        " ds_quantile_doubles_n(ds_quantile_doubles_union(q, 16)), approx_count_distinct(h), percentile_approx(q, 1)"
    )
    assert evaluated(f"SELECT {calls} FROM {parts}") == [(2.0, 1.0, 2.000000004967054, 2, 2, 2.5)]


@pytest.mark.parametrize(
    "call", [f"{name}(unbase64('AA=='))" for name in sorted(AGGREGATES) if name.endswith("_union")]
)
def test_windows_are_left_to_spark(call: str) -> None:
    with pytest.raises(NotLocal):
        evaluated(f"SELECT {call} OVER (PARTITION BY k) FROM {ROWS}")
