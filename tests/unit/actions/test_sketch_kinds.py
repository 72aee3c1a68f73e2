"""The kinds of the sketches that a query returns."""

from __future__ import annotations

import pytest

from hivedruid.actions.writing.sketches import check_kind
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BINARY, STRING, TIMESTAMP, HiveType, array_of
from hivedruid.errors import SemanticError
from hivedruid.plan.nodes import Aggregate, Filter, Node, PlanColumn, Project, TableScan
from hivedruid.plan.rex import Agg, Call, Literal, Ref
from hivedruid.plan.sketch_kinds import kind_of_column
from hivedruid.sketches.kinds import KINDS

KIND = "druid.columns.aggregators"
TABLE = Table(
    "default", "t", "druid", (Column("__time", TIMESTAMP), Column("u", STRING)), properties={KIND: "u:thetaSketch"}
)
SCAN = TableScan((PlanColumn("u", "u", STRING),), TABLE)


def column(name: str, type_: HiveType = BINARY) -> PlanColumn:
    return PlanColumn(name, name, type_)


def decoded() -> Node:
    """A sketch column as it is scanned, below a filter."""
    rows = Project((column("v"),), SCAN, (Call(BINARY, "unbase64", (Ref(STRING, "u"),)),))
    return Filter(rows.columns, rows, Literal(STRING, "x"))


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        ("ds_theta_sketch", "theta"), ("ds_theta_union", "theta"), ("ds_hll_sketch", "hll"),
        ("ds_quantile_doubles_sketch", "quantiles"), ("max", "theta"),
    ],
)  # fmt: skip
def test_aggregates(function: str, kind: str) -> None:
    rows = decoded()
    made = Aggregate((column("a"),), rows, (), (Agg(BINARY, function, (Ref(BINARY, "v"),)),))
    assert kind_of_column(made, made.columns[0]) == KINDS[kind]


def test_other_bytes_have_none() -> None:
    made = Project(
        (column("a"), column("b", STRING)), SCAN, (Call(BINARY, "unhex", (Ref(STRING, "u"),)), Ref(STRING, "u"))
    )
    assert [kind_of_column(made, each) for each in made.columns] == [None, None]


def test_what_cannot_be_added_is_refused() -> None:
    theta, quantiles, target = KINDS["theta"], KINDS["quantiles"], Column("u", BINARY)
    check_kind(theta, BINARY, None, target, None)
    check_kind(theta, STRING, None, target, None)
    for kind, source, given in (
        (theta, BINARY, quantiles), (theta, array_of(STRING), None), (quantiles, STRING, None),
    ):  # fmt: skip
        with pytest.raises(SemanticError, match="column 'u' stores sketches of"):
            check_kind(kind, source, given, target, None)
