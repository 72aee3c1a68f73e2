"""The query context of the settings."""

from __future__ import annotations

import pytest

from hivedruid.druid.context import query_context, shown_context
from hivedruid.errors import SemanticError
from hivedruid.settings import Settings


@pytest.mark.parametrize(
    ("settings", "context"),
    [
        ({}, {}),
        ({"druid.query.priority": "10"}, {"priority": 10}),
        ({"druid.query.priority": "-1"}, {"priority": -1}),
        ({"druid.query.tags": "team=web, job = daily"}, {"tags": {"team": "web", "job": "daily"}}),
        ({"druid.query.context": '{"lane": "low", "priority": 1}'}, {"lane": "low", "priority": 1}),
        ({"druid.query.context": '{"lane": "low", "priority": 1}', "druid.query.priority": "7"}, {"lane": "low", "priority": 7}),
    ],
)  # fmt: skip
def test_the_context_of_native_queries(settings: dict[str, str], context: dict[str, object]) -> None:
    assert query_context(Settings(settings)) == context


def test_what_explain_shows_of_it_never_changes() -> None:
    settings = Settings({"druid.query.timeout": "PT1M", "druid.query.id.prefix": "nightly"})
    assert shown_context(settings) == {"timeout": 60_000, "queryId": "nightly-…"}


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("druid.query.tags", "team", "must be key=value"),
        ("druid.query.tags", "a=b,", "must be key=value"),
        ("druid.query.tags", "a=b=c", "must be key=value"),
        ("druid.query.id.prefix", "", "letters, digits"),
        ("druid.query.id.prefix", "a/b", "letters, digits"),
        ("druid.query.priority", "high", "an integer"),
    ],
)
def test_what_cannot_be_a_context_is_refused(key: str, value: str, why: str) -> None:
    with pytest.raises(SemanticError, match=why):
        Settings({key: value})


def test_tags_may_be_taken_back() -> None:
    settings = Settings({"druid.query.tags": "team=web"})
    settings.set("druid.query.tags", "")
    assert query_context(settings) == {}
