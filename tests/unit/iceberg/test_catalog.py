"""The settings `hivedruid.iceberg.catalog.*`: the catalog that they select, and secrets in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivedruid.errors import SemanticError, UsageError
from hivedruid.iceberg.catalog import is_own, properties
from hivedruid.secret_text import redact
from hivedruid.settings import ICEBERG_CATALOG, Settings, listing


def settings(**values: str) -> Settings:
    return Settings({ICEBERG_CATALOG + name.replace("_", "-"): value for name, value in values.items()})


def test_the_home_has_its_own() -> None:
    home = Path("/a b/h?me")
    assert is_own(Settings())
    assert is_own({})
    assert properties(Settings(), home) == {
        "catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog",
        "uri": "jdbc:sqlite:file:///a%20b/h%3Fme/iceberg.sqlite?journal_mode=WAL&busy_timeout=20000",
        "jdbc.schema-version": "V1",
        "warehouse": "file:///a b/h?me/warehouse",
    }
    assert properties(settings(clients="4"), home)["clients"] == "4"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"type": "REST", "uri": "http://localhost:8181"}, {"type": "rest", "uri": "http://localhost:8181"}),
        ({"type": "hive", "uri": "thrift://h:9083"}, {"type": "hive", "uri": "thrift://h:9083"}),
        ({"type": "glue", "warehouse": "s3://b/w"}, {"type": "glue", "warehouse": "s3://b/w"}),
        ({"uri": "jdbc:postgresql://h/db"}, {"type": "jdbc", "uri": "jdbc:postgresql://h/db"}),
        ({"catalog_impl": "org.example.Catalog"}, {"catalog-impl": "org.example.Catalog"}),
        ({"type": "hadoop", "warehouse": "/w"}, {"type": "hadoop", "warehouse": "/w"}),
    ],
)
def test_another(given: dict[str, str], expected: dict[str, str]) -> None:
    assert not is_own(settings(**given))
    assert properties(settings(**given), Path("/home")) == expected


def test_secrets_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_CATALOG_SECRET", "client:xyzzy-plugh-4711")
    given = settings(type="rest", uri="https://c/", credential="env:TEST_CATALOG_SECRET")
    given.set(f"{ICEBERG_CATALOG}token-refresh-enabled", "true")
    assert properties(given, Path("/home"))["credential"] == "client:xyzzy-plugh-4711"
    assert properties(given, Path("/home"))["token-refresh-enabled"] == "true"
    assert "xyzzy-plugh-4711" not in redact("refused: client:xyzzy-plugh-4711")
    assert all("xyzzy" not in value for _, value in listing(given, verbose=True))
    monkeypatch.delenv("TEST_CATALOG_SECRET")
    with pytest.raises(UsageError, match=r"hivedruid\.iceberg\.catalog\.credential refers to .*TEST_CATALOG_SECRET"):
        properties(given, Path("/home"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("credential", "client:xyzzy"),
        ("token", "xyzzy"),
        ("jdbc.password", "xyzzy"),
        ("s3.secret-access-key", "xyzzy"),
        ("header.Authorization", "Bearer xyzzy"),
        ("uri", "jdbc:postgresql://user:xyzzy@h/db"),
        ("uri", "jdbc:postgresql://h/db?user=u&password=xyzzy"),
        ("uri", "https://user:xyzzy@h/"),
    ],
)
def test_secrets_in_plain_text_are_refused(name: str, value: str) -> None:
    with pytest.raises(SemanticError) as caught:
        Settings({ICEBERG_CATALOG + name: value})
    assert "xyzzy" not in caught.value.message + (caught.value.hint or "")
    assert "env:NAME or file:PATH" in caught.value.message + (caught.value.hint or "")


@pytest.mark.parametrize(
    "key", ["hivedruid.iceberg.catalog.", "hivedruid.iceberg.catalog.*", "hivedruid.iceberg.catalogue"]
)
def test_keys_that_are_none(key: str) -> None:
    with pytest.raises(SemanticError, match="unknown setting"):
        Settings({key: "x"})


def test_a_secret_is_not_sent_over_plain_http(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_TOKEN", "sesame")
    given = {ICEBERG_CATALOG + "type": "rest", ICEBERG_CATALOG + "token": "env:TEST_TOKEN"}
    for uri in ("https://h", "http://127.0.0.1:8181"):
        assert properties(Settings({**given, ICEBERG_CATALOG + "uri": uri}), Path("/h"))["token"] == "sesame"
    remote = {**given, ICEBERG_CATALOG + "uri": "http://h:8181"}
    with pytest.raises(
        UsageError, match=r"the secret of hivedruid.iceberg.catalog.token would be sent to h over plain"
    ):
        properties(Settings(remote), Path("/h"))
    allowed = Settings({**remote, "hivedruid.secrets.over.http": "true"})
    assert properties(allowed, Path("/h"))["token"] == "sesame"
