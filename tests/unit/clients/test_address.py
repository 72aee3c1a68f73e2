from __future__ import annotations

from pathlib import Path

import pytest

from hivedruid.clients.address import address
from hivedruid.errors import ConnectError, UsageError
from hivedruid.local.state import LocalServices
from hivedruid.references import secret
from hivedruid.settings import Settings


def test_a_router_is_all_three_services() -> None:
    found = address(Settings({"druid.url": "http://router:8888/"}))
    assert (found.broker, found.coordinator, found.overlord) == ("http://router:8888",) * 3
    assert found.url == "http://router:8888"


def test_the_overlord_is_with_the_coordinator_unless_it_has_an_address() -> None:
    settings = Settings({"druid.url": "http://broker:8082", "druid.coordinator.url": "http://master:8081"})
    assert address(settings).overlord == "http://master:8081"
    settings.set("druid.overlord.url", "http://overlord:8090")
    found = address(settings)
    assert (found.broker, found.coordinator, found.overlord) == (
        "http://broker:8082", "http://master:8081", "http://overlord:8090",
    )  # fmt: skip


def test_the_local_cluster() -> None:
    settings = Settings({"druid.url": "local"})
    services = LocalServices("http://127.0.0.1:1", "http://127.0.0.1:2", "http://127.0.0.1:3", "127.0.0.1:4")
    found = address(settings, services)
    assert (found.url, found.broker, found.overlord) == ("local", "http://127.0.0.1:1", "http://127.0.0.1:3")
    with pytest.raises(ConnectError, match="not running") as raised:
        address(settings, None)
    assert raised.value.hint is not None
    assert "hivedruid local up" in raised.value.hint


def test_times_and_tries() -> None:
    settings = Settings({
        "druid.url": "http://b", "druid.query.timeout": "PT1H0.5S", "hive.druid.http.read.timeout": "P1DT1M",
        "hive.druid.maxTries": "0",
    })  # fmt: skip
    found = address(settings)
    assert (found.query_timeout, found.read_timeout, found.tries) == (3600.5, 86_460.0, 1)


@pytest.mark.parametrize("key", ["druid.url", "druid.coordinator.url", "druid.overlord.url"])
@pytest.mark.parametrize("user", ["ann:canary", "canary", "ann:a/b@canary", ":canary"])
def test_credentials_in_a_url_are_refused_with_a_place_for_them(key: str, user: str) -> None:
    with pytest.raises(UsageError, match=f"{key} must not contain credentials") as raised:
        address({**Settings(), "druid.url": "http://broker", key: f"http://{user}@broker"})
    assert "canary" not in f"{raised.value.message}{raised.value.hint}"
    assert "druid.auth.password" in (raised.value.hint or "")
    assert "docs/security.md" in (raised.value.hint or "")


@pytest.mark.parametrize("key", ["druid.auth.password", "druid.auth.token"])
def test_a_secret_is_not_sent_over_plain_http(key: str) -> None:
    given = {key: "env:SECRET", "druid.url": "https://broker:8282"}
    assert address(Settings(given)).broker == "https://broker:8282"
    for part in ("druid.url", "druid.coordinator.url", "druid.overlord.url"):
        with pytest.raises(UsageError, match=f"the secret of {key} would be sent to node1 over plain http") as raised:
            address(Settings({**given, part: "http://node1:8082"}))
        assert "SET hivedruid.secrets.over.http=true" in (raised.value.hint or "")
        allowed = {**given, part: "http://node1:8082", "hivedruid.secrets.over.http": "true"}
        assert address(Settings(allowed)).url
    for here in ("http://localhost:8888", "http://127.0.0.1:8888", "http://[::1]:8888"):
        assert address(Settings({**given, "druid.url": here})).url == here
    assert address(Settings({"druid.url": "http://node1:8082"})).url == "http://node1:8082"


def test_secrets_come_from_the_environment_or_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DRUID_PASSWORD", "swordfish")
    assert secret("druid.auth.password", "env:DRUID_PASSWORD") == "swordfish"
    file = tmp_path / "token"
    file.write_text("abc def\n")
    assert secret("druid.auth.token", f"file:{file}") == "abc def"


@pytest.mark.parametrize(
    ("content", "problem"), [(None, "cannot read"), ("\n", "is empty"), ("canary\nsecond\n", "more than one line")]
)
def test_a_secret_that_is_none(tmp_path: Path, content: str | None, problem: str) -> None:
    file = tmp_path / "secret"
    if content is not None:
        file.write_text(content)
    with pytest.raises(UsageError, match=problem) as raised:
        secret("druid.auth.token", f"file:{file}")
    assert "canary" not in raised.value.message


def test_a_token_that_no_header_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRUID_TOKEN", "canary-\u2026")
    with pytest.raises(UsageError, match="not valid in an HTTP header") as raised:
        secret("druid.auth.token", "env:DRUID_TOKEN")
    assert "canary" not in raised.value.message


def test_a_variable_that_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_SECRET", raising=False)
    with pytest.raises(UsageError, match="NO_SUCH_SECRET, which is not set"):
        secret("druid.auth.password", "env:NO_SUCH_SECRET")
