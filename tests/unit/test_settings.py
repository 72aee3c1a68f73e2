"""The settings table and a session's values."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hivedruid.errors import SemanticError, Span
from hivedruid.setting_types import resolve_zone, seconds
from hivedruid.settings import FAMILIES, OWN_PREFIXES, SETTINGS, Settings, check, listing

DEFAULTS = {
    "hive.local.time.zone": "LOCAL",
    "hive.druid.rollup": "true",
    "hive.druid.indexer.segments.granularity": "DAY",
    "hive.druid.indexer.partition.size.max": "5000000",
    "hive.druid.indexer.memory.rownum.max": "75000",
    "hive.external.table.purge.default": "false",
    "hive.groupby.position.alias": "false",
    "hive.orderby.position.alias": "true",
    "hive.default.nulls.last": "true",
    "hive.explain.user": "true",
    "hive.variable.substitute": "true",
    "druid.url": "embedded:",
    "spark.master": "local[*]",
    "hivedruid.now": "",
    "hivedruid.kafka.check": "warn",
    "hivedruid.clear.text.secrets": "false",
    "hivedruid.malformed.rows": "fail",
}


def test_defaults() -> None:
    settings = Settings()
    assert {key: settings[key] for key in DEFAULTS} == DEFAULTS
    assert settings.changed() == {}


def test_every_default_is_a_value_of_its_type() -> None:
    for key, setting in SETTINGS.items():
        assert check(key, setting.default) == setting.default
        assert setting.doc.endswith(".")


@pytest.mark.parametrize(
    ("key", "value", "kept"),
    [
        ("hive.druid.rollup", "FALSE", "false"),
        ("hive.druid.indexer.segments.granularity", "hour", "HOUR"),
        ("hivedruid.malformed.rows", "SKIP", "skip"),
        ("hive.druid.indexer.partition.size.max", " 10 ", "10"),
        ("hive.local.time.zone", "local", "LOCAL"),
        ("hive.local.time.zone", "Asia/Kolkata", "Asia/Kolkata"),
        ("hivedruid.now", "2015-09-12 01:02:03", "2015-09-12 01:02:03"),
        ("hivedruid.now", "2015-09-12 01:02:03.5", "2015-09-12 01:02:03.500000"),
        ("druid.url", "http://localhost:8888/", "http://localhost:8888"),
        ("druid.url", "local", "local"),
        ("druid.coordinator.url", "https://host:8281/", "https://host:8281"),
        ("druid.auth.token", "file:/run/secrets/druid", "file:/run/secrets/druid"),
        ("druid.query.context", '{ "priority":10 }', '{"priority": 10}'),
        ("hive.druid.http.read.timeout", "PT2M", "PT2M"),
        ("hive.exec.dynamic.partition.mode", "nonstrict", "nonstrict"),
        ("mapreduce.job.reduces", "3", "3"),
        ("tez.queue.name", "x", "x"),
        ("my.own", "anything", "anything"),
    ],
)
def test_set(key: str, value: str, kept: str) -> None:
    settings = Settings()
    settings.set(key, value)
    assert settings[key] == kept
    assert settings.changed() == {key: kept}


@pytest.mark.parametrize(
    ("key", "value", "message", "hint"),
    [
        ("druid.ulr", "x", "unknown setting", "druid.url"),
        ("hivedruid.nov", "x", "unknown setting", "hivedruid.now"),
        ("druid.zzzzzzzzzzzz", "x", "unknown setting", "SET -v"),
        ("hive.druid.rollup", "yes", "true or false", None),
        ("hive.druid.indexer.partition.size.max", "many", "an integer", None),
        ("hive.druid.indexer.segments.granularity", "DAYS", "one of", "'DAY'"),
        ("hive.local.time.zone", "US/Pacifc", "time zone", "US/Pacific"),
        ("hive.local.time.zone", "../etc", "time zone", "IANA"),
        ("hive.local.time.zone", "", "time zone", "IANA"),
        ("hivedruid.now", "tomorrow", "timestamp", "yyyy-MM-dd"),
        ("druid.url", "localhost:8888", "router", "http://"),
        ("druid.coordinator.url", "host:8081", "http", None),
        ("druid.auth.password", "hunter2", "not the secret itself", "environment variable"),
        ("druid.query.context", "priority=1", "JSON object", "priority"),
        (
            "druid.query.context",
            '{"skipEmptyBuckets": true}',
            "does not allow the key 'skipEmptyBuckets'",
            "docs/druid.md",
        ),
        ("druid.query.context", '{"maxSubquerRows": 1}', "does not allow the key", "maxSubqueryRows"),
        ("hive.druid.http.read.timeout", "60", "period", None),
        ("hive.metastore.uris", "http://localhost:9083", "must be thrift://host:port", None),
    ],
)
def test_refused(key: str, value: str, message: str, hint: str | None) -> None:
    span = Span(1, 5, 3, "SET x")
    with pytest.raises(SemanticError, match=message) as error:
        Settings().set(key, value, span)
    assert error.value.span is span
    if hint:
        assert error.value.hint is not None
        assert hint in error.value.hint


def test_a_refused_value_changes_nothing() -> None:
    settings = Settings({"hive.druid.rollup": "false"})
    with pytest.raises(SemanticError):
        settings.set("hive.druid.rollup", "perhaps")
    assert settings["hive.druid.rollup"] == "false"


def test_reading() -> None:
    settings = Settings({"hive.druid.rollup": "false", "x": "y"})
    assert settings.get_bool("hive.druid.rollup") is False
    assert settings.get_int("hive.druid.maxTries") == 5
    assert settings.get("nope") is None
    assert len(settings) == len(SETTINGS) + 1
    assert set(settings) == {*SETTINGS, "x"}


def test_reset() -> None:
    settings = Settings({"hive.druid.rollup": "false", "x": "y"})
    settings.reset("x")
    assert settings.changed() == {"hive.druid.rollup": "false"}
    settings.reset()
    assert settings.changed() == {}


def test_a_copy_is_apart() -> None:
    settings = Settings({"x": "y"})
    twin = settings.copy()
    twin.set("x", "z")
    assert (settings["x"], twin["x"]) == ("y", "z")


def test_listing() -> None:
    settings = Settings({"hive.druid.rollup": "false", "hive.druid.maxTries": "5", "my.password": "hunter2"})
    assert listing(settings) == [("hive.druid.rollup", "false"), ("my.password", "******")]
    everything = dict(listing(settings, verbose=True))
    assert everything.keys() == {*SETTINGS, "my.password", "hivedruid.iceberg.catalog.<property>"}
    assert "hunter2" not in everything.values()


DOCS = Path(__file__).parents[2] / "docs"
TABLES = re.findall(
    r"^\| setting \| default \| meaning \|\n\|---\|---\|---\|\n((?:\|.*\n)+)",
    "\n".join((DOCS / page).read_text(encoding="utf-8") for page in ("iceberg.md", "writing.md")),
    re.MULTILINE,
)


def test_the_pages_describe_the_settings_as_the_table_does() -> None:
    described = {setting.key: setting for setting in (*SETTINGS.values(), *FAMILIES.values())}
    rows = [row for table in TABLES for row in table.splitlines()]
    assert len(rows) == 15
    for row in rows:
        setting = described[row.split("`")[1]]
        default = f"`{setting.default}`" if setting.default else ""
        assert row == f"| `{setting.key}` | {default} | {setting.doc} |"


def test_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    assert Settings().time_zone == "Asia/Kolkata"
    monkeypatch.setenv("TZ", "Not/AZone")
    assert resolve_zone("LOCAL") == "UTC"
    assert resolve_zone("US/Pacific") == "US/Pacific"


def test_own_keys_are_all_in_the_table() -> None:
    assert all(any(key.startswith(prefix) for key in SETTINGS) for prefix in OWN_PREFIXES)


@pytest.mark.parametrize(
    ("period", "expected"),
    [("PT0S", 0), ("PT1.5S", 1.5), ("PT0,5S", 0.5), ("P1W", 604_800), ("P2DT3H4M5S", 183_845), ("P1Y1M", 34_128_000)],
)
def test_seconds(period: str, expected: float) -> None:
    assert seconds(period) == expected


def test_the_listing_shows_booleans_and_references_of_secrets() -> None:
    shown = dict(listing(Settings({"druid.auth.token": "env:TOKEN", "x.password": "hunter2"}), verbose=True))
    assert shown["hivedruid.clear.text.secrets"] == "false"
    assert (shown["druid.auth.token"], shown["x.password"]) == ("env:TOKEN", "******")
