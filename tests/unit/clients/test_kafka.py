"""Unreachable brokers; responses of Kafka itself are tested in tests/integration/test_kafka_client.py."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any

import pytest

from hivedruid.clients.kafka import Kafka
from hivedruid.errors import ConnectError, KafkaError


@pytest.mark.parametrize("server", ["localhost", "localhost:", ":9092", "localhost:x", "localhost:99999"])
def test_brokers_are_host_and_port(server: str) -> None:
    with Kafka(server, {}) as kafka, pytest.raises(KafkaError, match="is not a valid host:port of a Kafka broker"):
        kafka.topics()


@pytest.mark.parametrize(
    ("servers", "reason"),
    [
        ("127.0.0.1:1", "connection refused"),
        ("127.0.0.1:1,127.0.0.1:2", "connection refused"),
        ("", "kafka.bootstrap.servers is empty"),
    ],
)
def test_nobody_there(servers: str, reason: str) -> None:
    with Kafka(servers, {}) as kafka, pytest.raises(ConnectError) as error:
        kafka.offsets(["t"])
    assert error.value.message == f"cannot reach Kafka at {servers} from this machine: {reason}"


def test_no_topics_need_no_kafka() -> None:
    assert Kafka("127.0.0.1:1", {}).offsets([]) == {}


Reply = bytes | Callable[[bytes], bytes] | None
NO_KAFKA: dict[str, Reply] = {
    "HTTP": b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
    "SSH": b"SSH-2.0-OpenSSH_9.2\r\n",
    "garbage": b"\xff\xfe\x00\x01" * 50,
    "zeros": bytes(64),
    "of another request": struct.pack(">i", 4) + b"\0\0\0\1abcd",
    "of the request, then garbage": lambda asked: struct.pack(">i", 40) + asked[8:12] + b"\x7f" * 36,
    "of the request, and no more": lambda asked: struct.pack(">i", 4) + asked[8:12],
    "nothing": b"",
    "closed at once": None,
}


@pytest.fixture
def listening() -> Iterator[Callable[[Reply], str]]:
    """Starts a server that answers every connection in the same way; returns its host:port."""
    servers: list[socket.socket] = []

    def answer(connection: socket.socket, reply: Reply) -> None:
        with connection:
            while reply is not None and (asked := connection.recv(1 << 16)):
                connection.sendall(reply if isinstance(reply, bytes) else reply(asked))

    def guarded(connection: socket.socket, reply: Reply) -> None:
        try:
            answer(connection, reply)
        except OSError:
            return  # the client closed the connection

    def accept(server: socket.socket, reply: Reply) -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=guarded, args=(connection, reply), daemon=True).start()

    def start(reply: Reply) -> str:
        servers.append(socket.create_server(("127.0.0.1", 0)))
        threading.Thread(target=accept, args=(servers[-1], reply), daemon=True).start()
        return f"127.0.0.1:{servers[-1].getsockname()[1]}"

    yield start
    for server in servers:
        server.shutdown(socket.SHUT_RDWR)
        server.close()


@pytest.mark.parametrize("reply", NO_KAFKA)
def test_what_listens_is_no_kafka(listening: Callable[[Reply], str], reply: str) -> None:
    server = listening(NO_KAFKA[reply])
    begun = monotonic()
    with Kafka(server, {}) as kafka, pytest.raises(ConnectError) as error:
        kafka.offsets(["t"])
    assert server in error.value.message
    assert error.value.hint is not None
    assert monotonic() - begun < 30


def frame(request: bytes, body: bytes) -> bytes:
    """A response to a request, whose correlation id is repeated."""
    return struct.pack(">i", 4 + len(body)) + request[8:12] + body


def string(text: bytes) -> bytes:
    return struct.pack(">h", len(text)) + text


def broker_before_2_8(
    ports: list[int], *, topic: int = 0, partition: int = 0, host: bytes = b"127.0.0.1", offsets: Reply = b""
) -> Callable[[bytes], bytes]:
    """Metadata in version 1, which has no ids of topics, and ListOffsets in version 2, with these error codes.
    `ports` gets the broker's own port."""

    def reply(request: bytes) -> bytes:
        key, version = struct.unpack(">hh", request[4:8])
        if key == 18:
            apis = ((3, 0, 1), (18, 0, 0), (2, 2, 2), (999, 0, 7))
            body = struct.pack(">hi", 35 if version else 0, len(apis)) + b"".join(
                struct.pack(">hhh", *api) for api in apis
            )
            return frame(request, body)
        if key == 3:
            nodes = struct.pack(">ii", 1, 0) + string(host) + struct.pack(">ihi", ports[0], -1, 0)
            topics = struct.pack(">ih", 1, topic) + string(b"t") + b"\0"
            return frame(request, nodes + topics + struct.pack(">ihiiiiii", 1, partition, 0, 0, 1, 0, 1, 0))
        if offsets:
            assert not callable(offsets)
            return offsets.replace(b"SAME", request[8:12])
        return frame(request, struct.pack(">ii", 0, 1) + string(b"t") + struct.pack(">iihqq", 1, 0, partition, -1, 5))

    return reply


def test_topics_of_brokers_without_ids(listening: Callable[[Reply], str]) -> None:
    ports: list[int] = []
    server = listening(broker_before_2_8(ports))
    ports.append(int(server.rpartition(":")[2]))
    with Kafka(server, {}) as kafka:
        found = kafka.offsets_of("t")
        assert (found.earliest, found.latest) == ({0: 5}, {0: 5})
        assert kafka.topic_id("t") == found.topic_id


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"topic": 999}, "topic 't' cannot be read: an error with a code that kafka-python does not define"),
        ({"topic": -5}, "topic 't' cannot be read: an error with a code that kafka-python does not define"),
        ({"partition": 999}, "an error with a code that kafka-python does not define"),
        ({"host": b"nowhere.invalid"}, "cannot reach Kafka at"),
        ({"offsets": struct.pack(">i", 40) + b"SAME" + b"\x7f" * 36}, "is not a Kafka broker"),
        ({"offsets": struct.pack(">i", 8) + b"SAME" + struct.pack(">i", 2**31 - 1)}, "is not a Kafka broker"),
        ({"offsets": struct.pack(">i", 2**31 - 1) + b"SAME"}, "Invalid frame length"),
        ({"offsets": struct.pack(">i", -5) + b"SAME"}, "Invalid frame length"),
    ],
)
def test_odd_answers_of_a_broker(listening: Callable[[Reply], str], answers: dict[str, Any], message: str) -> None:
    ports: list[int] = []
    server = listening(broker_before_2_8(ports, **answers))
    ports.append(int(server.rpartition(":")[2]))
    begun = monotonic()
    with Kafka(server, {}) as kafka, pytest.raises((ConnectError, KafkaError), match=message):
        kafka.offsets_of("t")
    assert monotonic() - begun < 30
