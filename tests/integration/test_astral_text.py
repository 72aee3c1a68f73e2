"""Characters beyond U+FFFF, which Java counts as two: the results of both engines are Hive 4.0.1's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from hivedruid.plan.physical import DruidRead, Field
from tests.support.both import NEW_YEAR, Both, stored_in_both
from tests.support.planning import read

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

VALUES = ("a😀b", "😀", "😀😀x", "x𝒳yz", "ab😀", "ß", "İx")
TEXTS = {
    "substr(city, 1, 1)": ("a", "?", "?", "x", "a", "ß", "İ"),
    "substr(city, 1, 2)": ("a?", "😀", "😀", "x?", "ab", "ß", "İx"),
    "substr(city, 2)": ("😀b", "?", "?😀x", "𝒳yz", "b😀", "", "x"),
    "substr(city, 3)": ("?b", "", "😀x", "?yz", "😀", "", ""),
    "substr(city, -1)": ("b", "?", "x", "z", "?", "ß", "x"),
    "substr(city, -2, 1)": ("?", "?", "?", "y", "?", "", "İ"),
    "substr(city, 2, length(city) - 1)": ("😀", "", "??", "𝒳y", "b?", "", "x"),
    "lpad(city, 5, 'x')": ("xa😀b", "xxx😀", "😀😀x", "x𝒳yz", "xab😀", "xxxxß", "xxxİx"),
    "lpad(city, 2, 'x')": ("a?", "😀", "😀", "x?", "ab", "xß", "İx"),
    "lpad(city, 6, '😀')": ("😀a😀b", "😀😀😀", "?😀😀x", "?x𝒳yz", "😀ab😀", "😀😀?ß", "😀😀İx"),
    "rpad(city, 6, '😀')": ("a😀b😀", "😀😀😀", "😀😀x?", "x𝒳yz?", "ab😀😀", "ß😀😀?", "İx😀😀"),
    "reverse(city)": ("b😀a", "😀", "x😀😀", "zy𝒳x", "😀ba", "ß", "xİ"),
    "upper(city)": ("A😀B", "😀", "😀😀X", "X𝒳YZ", "AB😀", "SS", "İX"),
    "lower(city)": ("a😀b", "😀", "😀😀x", "x𝒳yz", "ab😀", "ß", "i̇x"),
    "cast(city AS varchar(2))": ("a😀", "😀", "😀😀", "x𝒳", "ab", "ß", "İx"),
    "translate(city, '😀x', 'zw')": ("azb", "z", "zzw", "w𝒳yz", "abz", "ß", "İw"),
    "concat_ws('😀', city, 'b')": ("a😀b😀b", "😀😀b", "😀😀x😀b", "x𝒳yz😀b", "ab😀😀b", "ß😀b", "İx😀b"),
    "regexp_extract(city, '^(.)', 1)": ("a", "😀", "😀", "x", "a", "ß", "İ"),
    "regexp_replace(city, '.', 'q')": ("qqq", "q", "qqq", "qqqq", "qqq", "q", "qq"),
}
NUMBERS = {
    "length(city)": (3, 1, 3, 4, 3, 1, 2),
    "instr(city, 'b')": (4, 0, 0, 0, 2, 0, 0),
    "instr(city, '😀')": (2, 1, 1, 0, 3, 0, 0),
    "locate('b', city)": (3, 0, 0, 0, 2, 0, 0),
    "locate('y', city, 2)": (0, 0, 0, 3, 0, 0, 0),
    "locate('b', city, 4)": (3, 0, 0, 0, 0, 0, 0),
}
CONDITIONS = {
    "city LIKE 'a_b'": {0},
    "city LIKE '_'": {1, 5},
    "city LIKE 'a__b'": set(),
    "city RLIKE '^.$'": {1, 5},
    "substr(city, 1, 1) = '?'": {1, 2},
}


@pytest.fixture(scope="module")
def both(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    rows = [{"__time": NEW_YEAR, "clicks": n, "city": value} for n, value in enumerate(VALUES)]
    with stored_in_both(cluster, tmp_path_factory.mktemp("astral"), rows, {"clicks": "long", "city": "string"}) as made:
        yield made


def of(both: Both, sql: str) -> DruidRead:
    made = read(sql)
    query = json.loads(json.dumps(made.query).replace('"events"', '"edits"'))
    return DruidRead(both.named(query), tuple(Field(f.name, f.type) for f in made.fields))


@pytest.mark.parametrize("engine", ["store", "druid"])
@pytest.mark.parametrize("expected", [TEXTS, NUMBERS], ids=["texts", "numbers"])
def test_functions(both: Both, engine: str, expected: dict[str, tuple[object, ...]]) -> None:
    asked = of(both, f"SELECT clicks, {', '.join(expected)} FROM ev")
    rows = sorted(getattr(both, engine).rows(asked))
    found = {text: tuple(row[place] for row in rows) for place, text in enumerate(expected, start=1)}
    assert found == expected


@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions(both: Both, condition: str) -> None:
    asked = of(both, f"SELECT clicks FROM ev WHERE {condition}")
    for engine in (both.store, both.druid):
        assert {row[0] for row in engine.rows(asked)} == CONDITIONS[condition]
