"""The client of a Hive metastore without a metastore, or without its library."""

from __future__ import annotations

import socket
import socketserver
import sys
from contextlib import suppress
from threading import Thread
from time import monotonic
from typing import Any

import pytest
from hive_metastore import ThriftHiveMetastore, ttypes
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.Thrift import TType
from thrift.transport.TSocket import TServerSocket
from thrift.transport.TTransport import TBufferedTransport, TTransportException

from hivedruid.clients.metastore import HiveMetastore
from hivedruid.errors import ConnectError, ExecutionError, UsageError
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


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x00" * 64, b"\x80\x01\x00\x02\x00\x00\x00\x01x\x00\x00\x00\x00\x00", b"\xff" * 64],
    ids=["http", "zeros", "no reply", "ones"],
)  # fmt: skip
def test_a_service_that_is_no_metastore(answer: bytes) -> None:
    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            while self.request.recv(4096):
                self.request.sendall(answer)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        uri = f"thrift://127.0.0.1:{server.server_address[1]}"
        try:
            with pytest.raises((ExecutionError, ConnectError), match=f"Hive metastore {uri}"):
                metastore(uri, **{"hive.metastore.client.socket.timeout": "300ms"}).database_names()
        finally:
            server.shutdown()


class _NewerTable(ttypes.Table):  # type: ignore[misc]
    """With fields that this client does not have, and a kind of owner that it does not know."""

    def write(self, protocol: Any) -> None:
        protocol.writeStructBegin("Table")
        for number, (kind, value) in enumerate({TType.STRING: "new", TType.I64: 7, TType.BOOL: True}.items(), 900):
            protocol.writeFieldBegin(f"new{number}", kind, number)
            {TType.STRING: protocol.writeString, TType.I64: protocol.writeI64, TType.BOOL: protocol.writeBool}[kind](
                value
            )
            protocol.writeFieldEnd()
        protocol.writeFieldBegin("map", TType.MAP, 950)
        protocol.writeMapBegin(TType.STRING, TType.LIST, 1)
        protocol.writeString("a")
        protocol.writeListBegin(TType.I32, 2)
        protocol.writeI32(1)
        protocol.writeI32(2)
        protocol.writeListEnd()
        protocol.writeMapEnd()
        protocol.writeFieldEnd()
        for number, value in ((1, self.tableName), (2, self.dbName), (12, self.tableType)):
            protocol.writeFieldBegin("known", TType.STRING, number)
            protocol.writeString(value)
            protocol.writeFieldEnd()
        protocol.writeFieldStop()
        protocol.writeStructEnd()


class _Newer:
    def set_ugi(self, _user: str, _groups: list[str]) -> list[str]:
        return []

    def get_database(self, name: str) -> Any:
        return ttypes.Database(name=name, ownerName="me", ownerType=99)

    def get_table_req(self, request: Any) -> Any:
        return ttypes.GetTableResult(
            _NewerTable(tableName=request.tblName, dbName=request.dbName, tableType="NEW_TABLE")
        )


def test_a_newer_metastore() -> None:
    """Fields and enumerations that are not known are no errors."""
    listening = TServerSocket("127.0.0.1", 0)
    listening.listen()
    port = listening.handle.getsockname()[1]
    processor = ThriftHiveMetastore.Processor(_Newer())

    def serve() -> None:
        client = listening.accept()
        protocol = TBinaryProtocol(TBufferedTransport(client))
        with suppress(TTransportException):
            while True:
                processor.process(protocol, protocol)

    thread = Thread(target=serve)
    thread.start()
    store = metastore(f"thrift://127.0.0.1:{port}")
    try:
        found = store.database("shop")
        assert found is not None
        assert (found.details.owner, found.details.owner_type) == ("me", None)
        table = store.stored_table("shop", "orders")
        assert table is not None
        assert (table.database, table.name, table.type) == ("shop", "orders", "NEW_TABLE")
    finally:
        store.close()
        thread.join()
        listening.close()
