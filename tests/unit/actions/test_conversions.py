"""The values that INSERT accepts for a column of another type."""

from __future__ import annotations

import pytest

from hivedruid.actions.writing.insert import check_conversion
from hivedruid.catalog.table import Column
from hivedruid.catalog.types import HiveType
from hivedruid.errors import SemanticError
from tests.support.planning import plan


def type_of(text: str) -> HiveType:
    return plan(f"SELECT CAST(NULL AS {text})").columns[0].type


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("array<string>", "array<struct<s:string,n:int>>"),  # array() without elements, too
        ("struct<q:int,r:string>", "struct<x:int,y:string>"),
        ("struct<y:string,x:int>", "struct<x:int,y:string>"),
        ("struct<x:int>", "struct<x:int,y:string>"),
        ("map<string,string>", "array<string>"),
        ("map<string,array<int>>", "map<string,int>"),
        ("array<int>", "array<timestamp>"),
    ],
)
def test_nested_values_of_another_shape_are_refused(source: str, target: str) -> None:
    with pytest.raises(SemanticError) as caught:
        check_conversion(type_of(source), Column("c", type_of(target)), 1, None)
    assert caught.value.message.endswith(f"Cannot convert column 1 from {source} to {target}.")


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("struct<X:int,y:string>", "struct<x:bigint,Y:string>"),
        ("map<int,decimal(3,1)>", "map<string,int>"),
        ("array<string>", "array<timestamp>"),
    ],
)
def test_elements_are_converted(source: str, target: str) -> None:
    check_conversion(type_of(source), Column("c", type_of(target)), 1, None)
