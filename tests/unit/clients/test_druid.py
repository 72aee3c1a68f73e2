"""HTTP errors: statuses, redirects, retries, truncated streams, certificates, secrets."""

from __future__ import annotations

import base64
import json
import socket
import ssl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event
from typing import Any

import pytest

from hivedruid.clients.address import DruidAddress, address
from hivedruid.clients.cluster import DruidCluster
from hivedruid.clients.druid import DruidClient
from hivedruid.druid.limits import DruidLimits
from hivedruid.errors import ConnectError, DruidError, ResourceError, UnsupportedError, UsageError
from hivedruid.local.state import LocalServices
from hivedruid.settings import Settings
from tests.unit.clients.conftest import TLS, Answer, Asked, Serve

VERSION = json.dumps(
    {"version": "33.0.0", "modules": [{"artifact": "druid-datasketches"}, {"artifact": None}]}
).encode()
TOKEN, PASSWORD = "env:TOKEN", "env:PASSWORD"
QUERY = {"queryType": "timeseries", "context": {"queryId": "q1"}}


def client(url: str, **more: Any) -> DruidClient:
    return DruidClient(DruidAddress(url, url, url, url, **more))


def json_answer(value: Any, status: int = 200) -> Answer:
    return Answer(json.dumps(value).encode(), status)


@pytest.fixture
def free_port() -> Iterator[int]:
    """A port at which nobody listens, and that no other program gets while the test runs."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield int(bound.getsockname()[1])


# --- retries ---------------------------------------------------------------------------------------------------


def test_a_busy_service_is_asked_again(serve: Serve) -> None:
    left = [503, 502, 200]
    served = serve(lambda _: json_answer(["d"], left.pop(0)))
    assert client(served.url).get("broker", "/druid/v2/datasources", Any) == ["d"]
    assert len(served.asked) == 3


def test_not_more_often_than_the_setting_says(serve: Serve) -> None:
    served = serve(lambda _: Answer(b"<html><title>Sorry</title>", 503))
    with pytest.raises(DruidError, match=r"503 Service Unavailable: Sorry"):
        client(served.url, tries=2).get("broker", "/x", Any)
    assert len(served.asked) == 2


def test_other_failures_are_not_repeated(serve: Serve) -> None:
    served = serve(lambda _: Answer(b"<html><head><title>Oops</title></head></html>", 500))
    with pytest.raises(DruidError, match=r"^Druid's broker at .* returned 500 Internal Server Error: Oops$"):
        list(client(served.url).query(QUERY))
    assert len(served.asked) == 1


def test_what_must_not_run_twice_is_sent_once(serve: Serve) -> None:
    served = serve(lambda _: Answer(status=503))
    with pytest.raises(DruidError):
        client(served.url).post("overlord", "/druid/indexer/v1/task", Any, {}, repeatable=False)
    assert len(served.asked) == 1


def test_nobody_listens(free_port: int) -> None:
    with pytest.raises(ConnectError, match=rf"broker at http://127.0.0.1:{free_port}: connection refused") as raised:
        client(f"http://127.0.0.1:{free_port}", tries=2).get("broker", "/status", Any)
    assert raised.value.hint == "set druid.url to the address of Druid"


def test_nobody_of_that_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    with pytest.raises(ConnectError, match=r"cannot reach Druid's broker at http://nobody.invalid"):
        client("http://nobody.invalid", tries=1).get("broker", "/status", Any)


def test_a_silent_service_is_given_up(serve: Serve) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ConnectError, match="timed out"):
            client(url, read_timeout=0.2).get("broker", "/status", Any)


# --- answers ---------------------------------------------------------------------------------------------------


def test_a_missing_thing_can_have_an_answer(serve: Serve) -> None:
    served = serve(lambda _: Answer(b"", 404))
    assert client(served.url).get("overlord", "/x", Any, missing={}) == {}
    with pytest.raises(DruidError, match="404"):
        client(served.url).get("overlord", "/x", Any)


def test_a_limit_of_resources(serve: Serve) -> None:
    served = serve(lambda _: json_answer({"error": "Resource limit exceeded", "errorMessage": "Too many."}, 400))
    with pytest.raises(ResourceError, match=r"^Too many\.$"):
        list(client(served.url).query(QUERY))


def test_a_stream_that_is_cut_is_an_error(serve: Serve) -> None:
    served = serve(lambda _: Answer(b"[1,", cut=True))
    chunks = client(served.url).query(QUERY)
    assert next(chunks) == b"[1,"
    with pytest.raises(DruidError, match=r"ended (its answer )?early"):
        next(chunks)


def test_who_stops_reading_cancels_the_query(serve: Serve) -> None:
    served = serve(lambda asked: Answer(b"[1," * 100_000))
    chunks = client(served.url).query(QUERY)
    next(chunks)
    chunks.close()
    assert served.paths() == ["POST /druid/v2", "DELETE /druid/v2/q1"]


def test_ctrl_c_cancels_the_query(serve: Serve) -> None:
    served = serve(lambda asked: Answer(b"[1," * 100_000))
    chunks = client(served.url).query(QUERY)
    next(chunks)
    with pytest.raises(KeyboardInterrupt):
        chunks.throw(KeyboardInterrupt())
    assert served.paths()[-1] == "DELETE /druid/v2/q1"


def test_another_thread_interrupts_the_query(serve: Serve) -> None:
    cancelled = Event()

    def respond(asked: Asked) -> Answer:
        if asked.method == "DELETE":
            cancelled.set()
            return Answer(b"")
        cancelled.wait()
        return json_answer({"error": "Query cancelled", "errorMessage": "Query cancelled"}, 500)

    served = serve(respond)
    druid = client(served.url)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(lambda: list(druid.query(QUERY)))
        while not running.done():
            druid.interrupt()
    with pytest.raises(DruidError):
        running.result()
    requests = served.paths()
    assert requests.count("DELETE /druid/v2/q1") >= 1
    druid.interrupt()
    assert served.paths() == requests


def test_a_whole_answer_cancels_nothing(serve: Serve) -> None:
    served = serve(lambda _: Answer(b"[]"))
    assert b"".join(client(served.url).query(QUERY)) == b"[]"
    assert served.paths() == ["POST /druid/v2"]


def test_our_own_machine_is_not_asked_to_compress(serve: Serve) -> None:
    served = serve(lambda _: Answer(b"[]"))
    client(served.url).get("broker", "/x", Any)
    assert served.asked[0].headers["Accept-Encoding"] == "identity"


# --- leaders ---------------------------------------------------------------------------------------------------


def test_a_redirect_to_the_leader_is_followed_with_its_body_and_remembered(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "canary")
    leader = serve(lambda asked: json_answer({"task": "t"}))

    def follower(asked: Asked) -> Answer:
        if asked.path.endswith("/leader"):
            return Answer(leader.url.encode())
        return Answer(status=307, headers={"Location": leader.url + asked.path})

    served = serve(follower)
    druid = client(served.url, token=TOKEN)
    assert druid.post("overlord", "/druid/indexer/v1/task", Any, {"id": "t"}) == {"task": "t"}
    assert druid.get("overlord", "/druid/indexer/v1/tasks", Any) == {"task": "t"}
    assert [asked.body for asked in leader.asked] == [b'{"id": "t"}', b""]
    assert leader.asked[0].headers["Authorization"] == "Bearer canary"
    assert len(served.asked) == 2


def test_a_leader_that_is_gone_is_looked_for_again(serve: Serve, free_port: int) -> None:
    new_leader = serve(lambda asked: json_answer("new"))
    old = f"http://127.0.0.1:{free_port}"
    leaders = [old, new_leader.url]

    def follower(asked: Asked) -> Answer:
        if asked.path.endswith("/leader"):
            return Answer(leaders[0].encode())
        return Answer(status=307, headers={"Location": leaders[0] + asked.path})

    druid = client(serve(follower).url, tries=2)
    with pytest.raises(ConnectError):
        druid.get("overlord", "/x", Any)
    leaders.pop(0)
    assert druid.get("overlord", "/x", Any) == "new"


def test_a_redirect_to_anybody_else_is_not_followed(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "canary")
    stranger = serve(lambda _: Answer())
    served = serve(
        lambda asked: (
            Answer(b"http://leader:1")
            if asked.path.endswith("/leader")
            else Answer(status=307, headers={"Location": stranger.url + "/x"})
        )
    )
    for service in ("overlord", "broker"):
        with pytest.raises(DruidError, match="not the address of its leader"):
            client(served.url, token=TOKEN).get(service, "/x", Any)
    assert stranger.asked == []


def test_redirects_in_a_circle(serve: Serve) -> None:
    served = serve(lambda asked: Answer(status=307, headers={"Location": asked.path}))
    with pytest.raises(DruidError, match="loop"):
        client(served.url).get("coordinator", "/x", Any)


# --- secrets ---------------------------------------------------------------------------------------------------


def test_basic_authentication(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSWORD", "cänary")
    served = serve(lambda _: Answer())
    client(served.url, username="ann", password=PASSWORD).get("broker", "/x", Any)
    kind, _, value = served.asked[0].headers["Authorization"].partition(" ")
    assert (kind, base64.b64decode(value).decode()) == ("Basic", "ann:cänary")


def test_a_netrc_is_nobodys_business(serve: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login ann password canary\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    served = serve(lambda _: Answer())
    client(served.url).get("broker", "/x", Any)
    assert "Authorization" not in served.asked[0].headers


def test_a_user_without_a_password(serve: Serve) -> None:
    with pytest.raises(UsageError, match=r"druid\.auth\.password"):
        client("http://127.0.0.1:1", username="ann").get("broker", "/x", Any)


def test_secrets_are_in_no_message(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "canary")
    served = serve(lambda asked: Answer(b"", 401))
    with pytest.raises(DruidError) as raised:
        client(served.url, token=TOKEN).get("broker", "/x", Any)
    assert "canary" not in f"{raised.value.message}{raised.value.hint}{raised.value!r}{raised.value.__cause__!r}"


# --- certificates ----------------------------------------------------------------------------------------------


def server_context(*, asks: bool = False) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "server.pem", TLS / "server.key")
    if asks:
        context.load_verify_locations(TLS / "ca.pem")
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def test_a_certificate_of_our_own_authority(serve: Serve) -> None:
    served = serve(lambda _: json_answer(1), server_context())
    assert client(served.url, ca_file=str(TLS / "ca.pem")).get("broker", "/x", Any) == 1


def test_a_certificate_that_nobody_vouches_for(serve: Serve) -> None:
    served = serve(lambda _: json_answer(1), server_context())
    with pytest.raises(ConnectError, match="no secure connection to Druid's broker") as raised:
        client(served.url).get("broker", "/x", Any)
    assert "certificate verify failed" in raised.value.message
    assert "druid.tls.ca.file" in (raised.value.hint or "")
    assert served.asked == []


def test_a_client_certificate(serve: Serve) -> None:
    served = serve(lambda _: json_answer(1), server_context(asks=True))
    ours = {"certificate_file": str(TLS / "client.pem"), "key_file": str(TLS / "client.key")}
    assert client(served.url, ca_file=str(TLS / "ca.pem"), **ours).get("broker", "/x", Any) == 1
    with pytest.raises(ConnectError):
        client(served.url, ca_file=str(TLS / "ca.pem"), tries=1).get("broker", "/x", Any)


@pytest.mark.parametrize("field", ["ca_file", "certificate_file"])
def test_a_file_that_is_not_there(field: str) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*: No such file"):
        client("https://127.0.0.1:1", **{field: "/no/such.pem"}).get("broker", "/x", Any)


# --- what it is ------------------------------------------------------------------------------------------------


def cluster(url: str) -> DruidCluster:
    return DruidCluster(DruidAddress(url, url, url, url, tries=1), progress=lambda _: None, note=lambda _: None)


def test_a_druid_that_is_too_old(serve: Serve) -> None:
    served = serve(lambda _: json_answer({"version": "31.0.2", "modules": []}))
    with pytest.raises(UnsupportedError, match=r"version 31\.0\.2") as raised:
        cluster(served.url).data_sources()
    assert "Druid 32 or later" in (raised.value.hint or "")


@pytest.mark.parametrize(("value", "legacy"), [("", False), ("null", True)])
def test_a_druid_that_hides_its_version_is_asked_about_nulls(serve: Serve, value: str, legacy: bool) -> None:
    def respond(asked: Asked) -> Answer:
        if asked.method == "POST":
            return json_answer([{"columns": ["v"], "events": [[value]]}])
        return Answer(status=403) if asked.path == "/status" else json_answer(["d"])

    druid = cluster(serve(respond).url)
    if legacy:
        with pytest.raises(UnsupportedError, match="treats empty strings as nulls"):
            druid.data_sources()
    else:
        assert druid.data_sources() == ("d",)


def test_the_version_is_asked_once(serve: Serve) -> None:
    served = serve(lambda asked: Answer(VERSION) if asked.path == "/status" else json_answer([]))
    druid = cluster(served.url)
    druid.data_sources()
    druid.data_sources()
    assert served.paths().count("GET /status") == 1


@pytest.mark.parametrize(
    ("properties", "limits"),
    [
        ({"druid.service": "druid/broker"}, DruidLimits(100_000, None, unions=True)),
        (
            {"druid.service": "druid/broker", "druid.processing.numMergeBuffers": "4"},
            DruidLimits(100_000, 4, unions=True),
        ),
        ({"druid.service": "druid/broker", "druid.processing.numThreads": "16"}, DruidLimits(100_000, 4, unions=True)),
        ({"druid.service": "b/broker", "druid.server.http.maxSubqueryRows": "5"}, DruidLimits(5, None, unions=True)),
        (
            {"druid.service": "b/broker", "druid.server.http.maxSubqueryRows": "-1"},
            DruidLimits(None, None, unions=True),
        ),
        ({"druid.service": "druid/router"}, DruidLimits(unions=True)),
        (None, DruidLimits(unions=True)),
    ],
)
def test_limits(serve: Serve, properties: Any, limits: DruidLimits) -> None:
    def respond(asked: Asked) -> Answer:
        if asked.path == "/status":
            return Answer(VERSION)
        return Answer(status=403) if properties is None else json_answer(properties)

    served = serve(respond)
    druid = cluster(served.url)
    assert druid.limits() == limits
    druid.limits()
    assert len(served.asked) == 2


def test_the_status_of_services(serve: Serve, free_port: int) -> None:
    served = serve(lambda _: Answer(VERSION))
    address = replace(cluster(served.url).address, overlord=f"http://127.0.0.1:{free_port}")
    found = DruidCluster(address, progress=lambda _: None, note=lambda _: None).status()
    assert [(s.service, s.version, s.extensions, bool(s.problem)) for s in found] == [
        ("broker", "33.0.0", ("druid-datasketches",), False),
        ("coordinator", "33.0.0", ("druid-datasketches",), False),
        ("overlord", "", (), True),
    ]


def test_something_else_listens(serve: Serve) -> None:
    served = serve(lambda _: Answer(b"hello"))
    assert {s.problem for s in cluster(served.url).status()} == {
        f"the answer to GET {served.url}/status is not from Druid (not JSON): it begins with 'hello'"
    }


def test_a_part_of_the_local_cluster_that_has_died_is_named() -> None:
    client = DruidClient(address(Settings({"druid.url": "local"}), LocalServices("", "http://127.0.0.1:1", "", "")))
    with pytest.raises(ConnectError, match="local cluster's broker is not running") as raised:
        client.get("broker", "/status", Any)
    assert raised.value.hint == "run hivedruid local up"


# --- versions --------------------------------------------------------------------------------------------------


def version_answer(version: str) -> Answer:
    return json_answer({"version": version, "modules": []})


def test_a_cluster_of_several_versions_counts_as_its_oldest(serve: Serve) -> None:
    newer, older = serve(lambda _: version_answer("37.0.0")), serve(lambda _: version_answer("34.0.0"))
    address = DruidAddress(newer.url, newer.url, newer.url, older.url)
    found = DruidClient(address)
    assert found.version.text == "34.0.0"
    assert found.version.major == 34
    assert (newer.paths(), older.paths()) == (["GET /status"], ["GET /status"])


def test_a_version_that_is_not_known_yet_is_noted_once(serve: Serve) -> None:
    served = serve(lambda asked: version_answer("41.0.0") if asked.path == "/status" else json_answer([]))
    notes: list[str] = []
    address = DruidAddress(served.url, served.url, served.url, served.url)
    druid = DruidCluster(address, progress=lambda _: None, note=notes.append)
    druid.data_sources()
    druid.data_sources()
    assert notes == ["Druid 41.0.0 is newer than hivedruid, which takes it for Druid 39"]
