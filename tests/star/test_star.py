"""A small decision-support benchmark: statements over a star with three channels, whose answers DuckDB computes, too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hivedruid.catalog.types import HiveType
from hivedruid.session import Session
from hivedruid.spark import session as spark_session
from tests.equivalence.comparison import Rows, same, shown
from tests.equivalence.engine import SETTINGS
from tests.star.answers import FOLDER, answer, is_ordered, statements, text
from tests.star.sample import fill

if TYPE_CHECKING:
    import duckdb

Star = tuple[Session, "duckdb.DuckDBPyConnection"]

by_statement = pytest.mark.parametrize("statement", statements(), ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def star(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Star]:
    """The tables with their rows, and DuckDB's."""
    folder = tmp_path_factory.mktemp("star")
    with Session(folder / "home", hiveconf=SETTINGS, hivevar={"dir": str(folder / "files")}) as session:
        model = fill(session, folder / "files")
        yield session, model
        model.close()
    spark_session.release_all()


def run(session: Session, sql: str, most: int = 0) -> tuple[Rows, list[HiveType]]:
    """The result of a statement, and its types; Spark runs what Druid does not, or local evaluation of `most` rows."""
    *_, result = map(session.execute, session.statements(f"SET hivedruid.local.evaluation.max.rows={most}; {sql}"))
    return [tuple(row) for row in result.rows], [c.type for c in result.columns]


@pytest.mark.spark
@by_statement
def test_answers_are_those_of_duckdb(statement: Path, star: Star) -> None:
    session, model = star
    sql = text(statement)
    for most in (0, 10_000):
        found, types = run(session, sql, most)
        expected = answer(model, sql, types)
        assert expected, "the statement finds no rows, so that it compares nothing"
        assert same(found, expected, types, ordered=is_ordered(sql)), (
            f"at most {most} rows of local evaluation found:\n{shown(found)}\nexpected:\n{shown(expected)}"
        )


def test_dimensions_in_files_are_joined_without_spark(star: Star) -> None:
    session, _ = star
    plans = [run(session, f"EXPLAIN {text(statement)}", 10_000)[0] for statement in statements()]
    local = [lines for lines in plans if any("Local Evaluation" in str(line) for (line,) in lines)]
    assert len(local) >= 30
    assert any("read by this process" in str(line) for lines in local for (line,) in lines)


def plan(session: Session, name: str) -> dict[str, Any]:
    """The Spark job of a statement, as EXPLAIN FORMATTED shows it."""
    rows, _ = run(session, f"EXPLAIN FORMATTED {text(FOLDER / f'{name}.sql')}")
    (action,) = json.loads("\n".join(str(line) for (line,) in rows))["actions"]
    return dict(action)


def reducers(action: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The keys that reduce the native queries of a job, by data source and column."""
    found: dict[str, list[dict[str, Any]]] = {}
    for item in action["inputs"]:
        for reducer in item.get("reducers", ()):
            found.setdefault(f"{item['query']['dataSource']}.{reducer['column']}", []).append(reducer)
    return found


@pytest.mark.parametrize(
    "name",
    [
        "awkward_six_tables",
        "awkward_two_dimensions_first",
        "or_of_prices_and_brands",
        "or_of_region_postcode_and_price",
        "or_repeats_the_join_keys",
    ],
)
def test_every_table_is_joined_by_its_keys(name: str, star: Star) -> None:
    sql = plan(star[0], name)["sql"]
    assert "CROSS JOIN" not in sql
    assert sql.count(" JOIN ") == sql.count(" ON (")


def test_years_of_days_are_intervals(star: Star) -> None:
    (keys,) = reducers(plan(star[0], "awkward_six_tables"))["default.desk_hires.day_id"]
    assert keys["has_dates"]
    assert "(`in_year` = 2024)" in keys["keys"]["sql"]


def test_an_or_over_a_fact_and_a_dimension_reduces_the_fact(star: Star) -> None:
    (keys,) = reducers(plan(star[0], "or_of_prices_and_brands"))["default.app_hires.gear_id"]
    assert "`class` = 'dome'" in keys["keys"]["sql"]
    (native,) = [item["query"] for item in plan(star[0], "or_of_prices_and_brands")["inputs"] if "query" in item]
    assert "pieces" in json.dumps(native["filter"])


def test_keys_reduce_all_facts_whose_column_equals_them(star: Star) -> None:
    found = reducers(plan(star[0], "returns_of_one_class"))
    assert "`class` = 'dome'" in found["default.desk_hires.gear_id"][0]["keys"]["sql"]
    assert found["default.desk_hires.gear_id"][0]["keys"] == found["default.desk_returns.gear_id"][0]["keys"]


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("stock_of_depots_by_quarter", {"depot_id", "day_id"}),
        ("hires_of_branches_by_offer", {"branch_id", "offer_id"}),
    ],
)
def test_facts_are_grouped_before_several_joins(name: str, keys: set[str], star: Star) -> None:
    (native,) = [item["query"] for item in plan(star[0], name)["inputs"] if "query" in item]
    assert {dimension["dimension"] for dimension in native["dimensions"]} == keys


def test_ranges_of_both_sides_are_one_and_a_branch_without_values_is_not_queried(star: Star) -> None:
    natives = [item["query"] for item in plan(star[0], "overlapping_ranges")["inputs"] if "query" in item]
    assert {native["dataSource"] for native in natives} == {"default.app_hires", "default.phone_hires"}
    (phone,) = [native for native in natives if native["dataSource"] == "default.phone_hires"]
    assert "[5, 13]" in json.dumps(phone["filter"])
