"""A Kafka client with the properties of a supervisor's consumer: topics and offsets."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, TypeVar

from hivedruid.clients.kafka_library import is_retriable, kafka_python
from hivedruid.clients.kafka_security import client_config
from hivedruid.errors import ConnectError, KafkaError, did_you_mean
from hivedruid.ingestion.model import TopicDetails, TopicOffsets
from hivedruid.kafka_secrets import OnlyDruidError

if TYPE_CHECKING:
    import ssl

    from kafka.admin import KafkaAdminClient

_T = TypeVar("_T")
CONNECT_TIMEOUT = 10.0
REQUEST_TIMEOUT = 30.0
"""Seconds."""
LEADER_CHANGE = 20.0
"""Seconds to wait for other leaders if a broker does not respond: Kafka notices that after 9 s by default
(broker.session.timeout.ms)."""
RESTART = 60.0
"""Seconds to wait for brokers that responded before and do not now."""
TRIES = 4
"""The maximum number of connections that a broker may close before it identifies itself."""


_UNREADABLE = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError, struct.error)
"""What kafka-python raises for a response with parts that it does not expect."""
_NO_ID = "00000000-0000-0000-0000-000000000000"
"""The id of a topic of brokers before Kafka 2.8, which have none."""


class NoTopicError(KafkaError):
    """The topic does not exist, or no topic matches the pattern."""


class NoLeaderError(KafkaError):
    """No broker that runs has the records of a partition."""

    shown_as = "KafkaError"


class Kafka:
    """A client of one Kafka cluster, with Java consumer properties; `env:NAME` refers to a variable of this machine.

    It consumes nothing and creates no topic. Creating a client is cheap: the first request connects. Close it, or use
    it as a context manager. All requests raise ConnectError if no broker responds, OnlyDruidError if the properties
    cannot be used on this machine, and KafkaError if Kafka refuses.
    """

    def __init__(self, bootstrap: str, properties: Mapping[str, str], *, may_restart: bool = False) -> None:
        """`may_restart` repeats requests for RESTART seconds also if no broker responds."""
        self.bootstrap = bootstrap
        self._may_restart = may_restart
        self._properties = dict(properties)
        self._open: KafkaAdminClient | None = None
        self._has_several_brokers = False

    def __enter__(self) -> Kafka:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def topics(self, pattern: str | None = None) -> tuple[str, ...]:
        """The names of all topics, sorted; with `pattern` those that fully match it, as
        druid.kafka.ingestion.topicPattern."""
        try:
            matches = re.compile(pattern or ".*").fullmatch
        except re.error as error:
            raise KafkaError(f"'{pattern}' is not a valid regular expression: {error}") from None
        return self._repeated(lambda admin: tuple(sorted(name for name in admin.list_topics() if matches(name))))

    def topic_id(self, topic: str) -> str:
        """The id of a topic, which differs when it was deleted and created again. Raises KafkaError if it does not
        exist."""

        def topic_id(admin: KafkaAdminClient) -> str:
            (found,) = admin.describe_topics([topic])
            if (problem := self._problem(topic, found)) is not None:
                raise problem
            return _id_of(found)

        return self._repeated(topic_id)

    def details(self, topic: str) -> TopicDetails:
        """The offsets, sizes and configuration of a topic. Raises KafkaError if it does not exist."""
        offsets = self.offsets_of(topic)

        def details(admin: KafkaAdminClient) -> TopicDetails:
            (found,) = admin.describe_topics([topic])
            replicas = max(len(each["replica_nodes"]) for each in found["partitions"])
            return TopicDetails(offsets, replicas, self._sizes(admin, topic), self._configuration(admin, topic))

        return self._repeated(details)

    def _sizes(self, admin: KafkaAdminClient, topic: str) -> dict[int, int]:
        """The bytes of each partition; empty if the user may not describe the cluster."""
        sizes: dict[int, int] = {}
        for broker in admin.describe_log_dirs([topic]):
            for folder in broker["log_dirs"]:
                for each in (each for found in folder["topics"] for each in found["partitions"]):
                    number = each["partition_index"]
                    sizes[number] = max(sizes.get(number, 0), each["partition_size"])
        return sizes

    def _configuration(self, admin: KafkaAdminClient, topic: str) -> dict[str, str]:
        """The configuration of a topic, with the defaults; empty if the user may not describe it."""
        given = kafka_python().admin
        wanted = given.ConfigResource(given.ConfigResourceType.TOPIC, topic)
        try:
            found = admin.describe_configs([wanted], config_filter="all")
        except kafka_python().errors.TopicAuthorizationFailedError:
            return {}
        values = next(iter(found.values())).get(topic, {})
        return {name: each["value"] for name, each in sorted(values.items()) if not each["is_sensitive"]}

    def offsets(self, topics: Iterable[str]) -> dict[str, TopicOffsets | KafkaError]:
        """The offsets of all partitions of topics, or the error of a topic: it does not exist, or may not be read.

        Makes three requests for any number of topics: partitions, earliest and latest offsets; and one more for a
        similar name if a topic does not exist.
        """
        names = sorted(set(topics))
        if not names:
            return {}
        try:
            found = self._repeated(lambda admin: self._offsets(admin, names))
        except NoLeaderError as error:
            return {names[0]: error}
        missing = [name for name, each in found.items() if isinstance(each, NoTopicError)]
        existing = self.topics() if missing else ()
        return found | {name: self._no_topic(name, did_you_mean(name, existing)) for name in missing}

    def _offsets(self, admin: KafkaAdminClient, names: list[str]) -> dict[str, TopicOffsets | KafkaError]:
        """The same; raises NoLeaderError for a single topic, so that it is repeated."""
        found: dict[str, TopicOffsets | KafkaError] = {}
        partitions: dict[str, list[int]] = {}
        ids: dict[str, str] = {}
        for topic in admin.describe_topics(names):
            name = topic["name"]
            problem = self._problem(name, topic)
            if problem is None:
                ids[name] = _id_of(topic)
                partitions[name] = sorted(p["partition_index"] for p in topic["partitions"])
            elif isinstance(problem, NoLeaderError) and len(names) == 1:
                raise problem
            else:
                found[name] = problem
        try:
            return found | self._bounds(admin, partitions, ids)
        except kafka_python().errors.BrokerResponseError:
            if len(partitions) == 1:
                raise
        for name, numbers in partitions.items():  # one topic fails the request for all
            try:
                found |= self._bounds(admin, {name: numbers}, ids)
            except kafka_python().errors.BrokerResponseError as error:
                found[name] = KafkaError(f"the offsets of topic '{name}' cannot be read: {error_text(error)}")
        return found

    def offsets_of(self, topic: str) -> TopicOffsets:
        """The offsets of all partitions of one topic. Raises NoTopicError if it does not exist, KafkaError if it may
        not be read."""
        found = self.offsets([topic])[topic]
        if isinstance(found, KafkaError):
            raise found
        return found

    def offsets_at(self, topic: str, millis: int) -> dict[int, int]:
        """Per partition the offset of the first record at or after that time (ms since 1970); the latest if there is
        none.

        Raises KafkaError if the topic does not exist.
        """
        return self.offsets_within(self.offsets_of(topic), millis)

    def offsets_within(self, bounds: TopicOffsets, millis: int) -> dict[int, int]:
        """The same, with the end offsets that are already known, in one request."""
        asked = {bounds.topic: list(bounds.latest)}
        found = self._repeated(lambda admin: self._listed(admin, asked, millis))[bounds.topic]
        return {number: bounds.latest[number] if offset < 0 else offset for number, offset in found.items()}

    def _bounds(
        self, admin: KafkaAdminClient, partitions: Mapping[str, list[int]], ids: Mapping[str, str]
    ) -> dict[str, TopicOffsets | KafkaError]:
        spec = kafka_python().admin.OffsetSpec
        earliest = self._listed(admin, partitions, spec.EARLIEST)
        latest = self._listed(admin, partitions, spec.LATEST)
        return {name: TopicOffsets(name, earliest[name], latest[name], ids[name]) for name in partitions}

    def _listed(
        self, admin: KafkaAdminClient, partitions: Mapping[str, list[int]], moment: int
    ) -> dict[str, dict[int, int]]:
        from kafka.protocol.consumer import IsolationLevel

        committed = self._properties.get("isolation.level", "read_committed") != "read_uncommitted"  # Druid's default
        level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
        place = kafka_python().TopicPartition
        asked = {place(name, number): moment for name, numbers in partitions.items() for number in numbers}
        found: dict[str, dict[int, int]] = {name: {} for name in partitions}
        for (name, number), answer in sorted((admin.list_partition_offsets(asked, level) if asked else {}).items()):
            found[name][number] = answer.offset
        return found

    def _problem(self, name: str, topic: Mapping[str, Any]) -> KafkaError | None:
        """Why the offsets of a topic cannot be read."""
        errors = kafka_python().errors
        error = errors.for_code(topic["error_code"])
        if error in (errors.UnknownTopicOrPartitionError, errors.InvalidTopicError):
            return self._no_topic(name)
        if error is not errors.NoError:
            return KafkaError(f"topic '{name}' cannot be read: {error_text(error())}")
        lost = sorted(p["partition_index"] for p in topic["partitions"] if p["leader_id"] < 0)
        if lost:
            numbers = ", ".join(map(str, lost))
            return NoLeaderError(
                f"topic '{name}' has no leader for partition {numbers}", hint="check that all Kafka brokers are running"
            )
        return None

    def _no_topic(self, name: str, hint: str | None = None) -> NoTopicError:
        message = f"topic '{name}' does not exist in Kafka at {self.bootstrap}"
        return NoTopicError(message, hint=hint or "create it, or set kafka.topic; SHOW TOPICS lists the topics")

    def _repeated(self, ask: Callable[[KafkaAdminClient], _T]) -> _T:
        """The result of requests, which are repeated while one of several brokers does not respond and others do not
        lead its partitions yet, or while brokers may restart."""
        end = monotonic() + (RESTART if self._may_restart else LEADER_CHANGE)
        while True:
            try:
                with self._asking() as admin:
                    return ask(admin)
            except (ConnectError, KafkaError) as error:
                if monotonic() > end or not self._may_pass(error):
                    raise
            sleep(0.2)

    def _may_pass(self, error: ConnectError | KafkaError) -> bool:
        """Whether the reason of an error ends when Kafka has chosen other leaders, or a broker has restarted."""
        if self._may_restart and isinstance(error, ConnectError):
            return True
        if self._open is None:
            return False
        self._has_several_brokers |= len(self._open._manager.cluster.brokers()) > 1
        is_temporary = isinstance(error, NoLeaderError) or is_retriable(error)
        return self._has_several_brokers and is_temporary

    @contextmanager
    def _asking(self) -> Iterator[KafkaAdminClient]:
        """The open connection; errors of kafka-python are converted to those of hivedruid."""
        if self._open is None:
            self._open = self._connected()
        errors = kafka_python().errors
        try:
            yield self._open
        except (errors.KafkaConnectionError, errors.NodeNotReadyError, errors.KafkaTimeoutError) as error:
            raise self._unreachable(error_text(error)) from error
        except errors.RequestTimedOutError as error:
            raise self._unreachable("timed out") from error
        except errors.KafkaProtocolError as error:
            raise _no_kafka(self.bootstrap, error) from error
        except errors.KafkaError as error:
            raise KafkaError(f"Kafka at {self.bootstrap} refused the request: {error_text(error)}") from error
        except _UNREADABLE as error:
            reason = f"{type(error).__name__}: {error}"[:200]
            raise KafkaError(f"the response of Kafka at {self.bootstrap} cannot be read: {reason}") from error

    def _connected(self) -> KafkaAdminClient:
        config = client_config(self._properties)
        servers = [server for part in self.bootstrap.split(",") if (server := part.strip())]
        while True:
            broker = self._first_answering(servers, config.get("ssl_context"))
            servers = servers[servers.index(broker) + 1 :]
            try:
                return self._connected_to(broker, config)
            except ConnectError:  # such as a broker that has just ended
                if not servers:
                    raise

    def _connected_to(self, broker: str, config: Mapping[str, Any]) -> KafkaAdminClient:
        kafka = kafka_python()
        made: list[Any] = []

        def client(**given: Any) -> Any:
            made.append(_net_client(given))
            return made[0]

        try:
            return kafka.admin.KafkaAdminClient(
                bootstrap_servers=broker,
                bootstrap_timeout_ms=CONNECT_TIMEOUT * 1000,
                request_timeout_ms=REQUEST_TIMEOUT * 1000,
                kafka_client=client,
                **config,
            )
        except kafka.errors.KafkaError as error:
            for opened in made:  # its constructor started a thread
                opened.close()
            if isinstance(error, kafka.errors.KafkaTimeoutError | kafka.errors.KafkaConnectionError):
                protocol = self._properties.get("security.protocol", "PLAINTEXT")
                credentials = ", and check the credentials in sasl.jaas.config" if protocol.startswith("SASL") else ""
                raise ConnectError(
                    f"Kafka at {broker} does not respond to {protocol}",
                    hint=f"set security.protocol to the protocol of the broker's listener{credentials}",
                ) from error
            if isinstance(error, kafka.errors.KafkaProtocolError):
                raise _no_kafka(broker, error) from error
            raise KafkaError(f"Kafka at {broker} refused the request: {error_text(error)}") from error

    def _first_answering(self, servers: Iterable[str], context: ssl.SSLContext | None) -> str:
        """The first broker that accepts a connection: kafka-python retries them at random and does not report why they
        fail."""
        import socket
        import ssl

        end = monotonic() + CONNECT_TIMEOUT
        reasons = []
        for server in servers:
            host, _, port = server.rpartition(":")
            if not host or not port.isdecimal() or int(port) > 65_535:
                raise KafkaError(
                    f"'{server}' is not a valid host:port of a Kafka broker", hint="check kafka.bootstrap.servers"
                )
            host = host.strip("[]")
            try:
                with socket.create_connection((host, int(port)), max(1.0, end - monotonic())) as connection:
                    if context is not None:
                        context.wrap_socket(connection, server_hostname=host).close()
                    return server
            except TimeoutError:
                reasons.append("timed out")
            except ssl.SSLCertVerificationError as error:
                reasons.append(f"its certificate is not trusted ({error.verify_message})")
            except ssl.SSLError:
                reasons.append("it does not support TLS, which security.protocol requires")
            except (OSError, UnicodeError) as error:
                reasons.append((getattr(error, "strerror", None) or str(error)).lower())
        raise self._unreachable(reasons[0] if reasons else "kafka.bootstrap.servers is empty")

    def _unreachable(self, reason: str) -> ConnectError:
        return ConnectError(
            f"cannot reach Kafka at {self.bootstrap} from this machine: {reason}",
            hint="check that it is running, and check kafka.bootstrap.servers",
        )


def _net_client(given: Mapping[str, Any]) -> Any:
    """A client of kafka-python that does not retry refused credentials until its timeout.

    A broker that refuses them also closes the connection, and kafka-python may notice only that.
    """
    from kafka.errors import IllegalSaslStateError, SaslAuthenticationFailedError, UnsupportedSaslMechanismError
    from kafka.net.compat import KafkaNetClient
    from kafka.net.manager import KafkaConnectionManager
    from kafka.net.selector import NetworkSelector

    refusals = (IllegalSaslStateError, SaslAuthenticationFailedError, UnsupportedSaslMechanismError)

    class Manager(KafkaConnectionManager):  # type: ignore[misc]
        errors: tuple[Exception, ...] = ()

        def get_connection(self, node_id: Any, **options: Any) -> Any:
            errors = self.errors
            if len(errors) >= TRIES or (errors and isinstance(errors[-1], refusals)):
                self.errors = ()
                raise errors[-1]
            connection = super().get_connection(node_id, **options)
            connection.init_future.add_errback(self.remember)
            return connection

        def remember(self, error: Exception) -> None:
            self.errors = (*self.errors, error)

    config = {**given, "socket_connection_setup_timeout_ms": CONNECT_TIMEOUT * 1000}
    net = NetworkSelector(**config)
    return KafkaNetClient(net=net, manager=Manager(net, **config), **config)


def _id_of(topic: Mapping[str, Any]) -> str:
    return str(topic.get("topic_id") or _NO_ID)


def _no_kafka(server: str, error: Exception) -> ConnectError:
    return ConnectError(
        f"the server at {server} is not a Kafka broker, or requires TLS: {error_text(error)}",
        hint="check kafka.bootstrap.servers and security.protocol",
    )


def error_text(error: Exception) -> str:
    """The message of a kafka-python error: its name, and the broker's message if there is one."""
    own = type(error).__name__
    if own == "UnrecognizedBrokerError":
        return "an error with a code that kafka-python does not define"
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", own.removesuffix("Error")).lower()
    message = re.sub(rf"^(\[Error \d+\] |{own}: ?)+", "", str(error)).strip()
    return f"{name}: {message}" if message and message != own else name


__all__ = ["Kafka", "NoTopicError", "OnlyDruidError", "kafka_python"]
