"""The client of a Hive metastore without a metastore, or without its library."""

from __future__ import annotations

import socket
import sys
from time import monotonic

import pytest

from hivedruid.clients.metastore import HiveMetastore
from hivedruid.errors import ConnectError, UsageError
from hivedruid.setting_types import metastore_addresses
from hivedruid.settings import Settings


def metastore(uris: str, **more: str) -> HiveMetastore:
    return HiveMetastore(Settings({"hive.metastore.uris": uris, **more}))


def test_addresses() -> None:
    assert metastore_addresses("thrift://h:1, thrift://[::1]:2,thrift://k") == [("h", 1), ("::1", 2), ("k", 9083)]
    for wrong in ("h:1", "http://h:1", "thrift://", "thrift://h:1,", "thrift://u:p@h:1"):
        assert metastore_addresses(wrong) is None


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hive_metastore", None)
    with pytest.raises(UsageError, match="requires the Python package pyiceberg") as caught:
        metastore("thrift://127.0.0.1:1").table("a", "b")
    assert caught.value.hint == "install it: pip install 'hivedruid[metastore]'"


def test_every_address_is_tried() -> None:
    with pytest.raises(ConnectError, match=r"cannot reach the Hive metastore thrift://127\.0\.0\.1:1,thrift://"):
        metastore("thrift://127.0.0.1:1,thrift://127.0.0.1:2").database_names()


def test_a_service_that_does_not_respond() -> None:
    """It accepts connections and sends nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        uri = f"thrift://127.0.0.1:{server.getsockname()[1]}"
        begun = monotonic()
        with pytest.raises(ConnectError, match="timed out"):
            metastore(uri, **{"hive.metastore.client.socket.timeout": "100ms"}).database_names()
        assert monotonic() - begun < 10
