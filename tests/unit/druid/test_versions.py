"""The table of Druid's versions, and docs/druid-versions.md, which is made from it."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from hivedruid.druid.versions import NEWEST, OLDEST, VERSIONS, DruidVersion, Feature, oldest, page

PAGE = Path(__file__).parents[3] / "docs" / "druid-versions.md"


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), (
        "regenerate it: python -m hivedruid.druid.versions > docs/druid-versions.md"
    )


def test_every_feature_has_a_row_in_order() -> None:
    assert tuple(VERSIONS) == get_args(Feature)
    since = [row.since for row in VERSIONS.values()]
    assert since == sorted(since)
    assert OLDEST <= since[0] <= since[-1] <= NEWEST


@pytest.mark.parametrize(
    ("texts", "version", "major"),
    [
        (("33.0.0", "33.0.0"), "33.0.0", 33),
        (("37.0.0", "34.0.1", "37.0.0"), "34.0.1", 34),
        (("9.1.0", "37.0.0"), "9.1.0", 9),
        (("40.0.0-SNAPSHOT",), "40.0.0-SNAPSHOT", NEWEST),
        (("", "35.0.0"), "35.0.0", 35),
        (("", "latest"), "", OLDEST),
        ((), "", OLDEST),
    ],
)
def test_a_cluster_counts_as_its_oldest_service(texts: tuple[str, ...], version: str, major: int) -> None:
    found = oldest(texts)
    assert (found.text, found.major) == (version, major)


def test_a_newer_version_counts_as_the_newest() -> None:
    assert DruidVersion("41.0.0").is_newer
    assert not DruidVersion("39.0.0").is_newer
    assert DruidVersion("41.0.0").has("catalog DDL")


def test_the_reason_is_the_half_of_the_row_that_applies() -> None:
    assert DruidVersion("33.0.0").reason("supervisor ids") == (
        "Druid 33.0.0: a supervisor's id is the name of its data source"
    )
    assert DruidVersion("34.0.0").reason("supervisor ids").startswith("Druid 34.0.0: a supervisor has an id of its own")
    assert DruidVersion().reason("supervisor ids").startswith("Druid of an unknown version, taken for 32: ")
