"""Kafka as the consumer of a supervisor sees it: topics and offsets. The only importer of kafka-python."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hivedruid.errors import ConnectError, KafkaError, SemanticError
from hivedruid.ingestion.model import Offsets, TopicOffsets
from hivedruid.jaas import login_module
from hivedruid.secrets import is_kept, referenced

if TYPE_CHECKING:
    import ssl

    from kafka.admin import KafkaAdminClient

CONNECT_TIMEOUT = 5.0
REQUEST_TIMEOUT = 10.0
"""Seconds."""

_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_NOT_HERE = re.compile(r"sasl\..*callback\.handler\.class|ssl\.engine\.factory\.class|security\.providers")
"""Java classes, which nothing but Java can run."""


class OnlyDruidError(KafkaError):
    """The consumer's properties make sense on Druid's hosts alone: variables that are not set here, Java's key stores."""


class Kafka:
    """One Kafka, asked with a consumer's properties by Java's names; `env:NAME` among them is this machine's variable.

    Nothing is consumed, and no topic made. Making one is cheap: it connects with the first question. Close it; it is
    a context manager, too. All questions raise ConnectError where no broker answers, OnlyDruidError where the properties
    cannot be used from here, and KafkaError where Kafka refuses.
    """

    def __init__(self, bootstrap: str, properties: Mapping[str, str]) -> None:
        self.bootstrap = bootstrap
        self._properties = dict(properties)
        self._open: KafkaAdminClient | None = None

    def __enter__(self) -> Kafka:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def topics(self, pattern: str | None = None) -> tuple[str, ...]:
        """The names of all topics, sorted; with `pattern` those that it matches as a whole, as druid.kafka.ingestion.topicPattern."""
        try:
            matches = re.compile(pattern or ".*").fullmatch
        except re.error as error:
            raise KafkaError(f"'{pattern}' is no regular expression: {error}") from None
        with self._asking() as admin:
            return tuple(sorted(name for name in admin.list_topics() if matches(name)))

    def offsets(self, topics: Iterable[str]) -> dict[str, TopicOffsets | KafkaError]:
        """The offsets of all partitions of topics, or why a topic has none: it is not there, or may not be read.

        Three questions, however many the topics are: which partitions, where they begin, where they end.
        """
        names = sorted(set(topics))
        if not names:
            return {}
        with self._asking() as admin:
            found: dict[str, TopicOffsets | KafkaError] = {}
            partitions: dict[str, list[int]] = {}
            for topic in admin.describe_topics(names):
                name = topic["name"]
                problem = self._problem(name, topic)
                if problem is None:
                    partitions[name] = sorted(p["partition_index"] for p in topic["partitions"])
                else:
                    found[name] = problem
            try:
                return found | self._bounds(admin, partitions)
            except _kafka().errors.BrokerResponseError:
                if len(partitions) == 1:
                    raise
            for name, numbers in partitions.items():  # one of them is in the way of the others
                try:
                    found |= self._bounds(admin, {name: numbers})
                except _kafka().errors.BrokerResponseError as error:
                    found[name] = KafkaError(f"the offsets of topic '{name}' cannot be read: {_words(error)}")
            return found

    def offsets_at(self, topic: str, millis: int) -> Offsets:
        """Per partition the offset of the first record at or after that moment (ms since 1970); the latest where there is none.

        Raises KafkaError where the topic is not there.
        """
        bounds = self.offsets([topic])[topic]
        if isinstance(bounds, KafkaError):
            raise bounds
        with self._asking() as admin:
            found = self._listed(admin, {topic: list(bounds.latest)}, millis)[topic]
        return {number: bounds.latest[number] if offset < 0 else offset for number, offset in found.items()}

    def _bounds(
        self, admin: KafkaAdminClient, partitions: Mapping[str, list[int]]
    ) -> dict[str, TopicOffsets | KafkaError]:
        spec = _kafka().admin.OffsetSpec
        earliest = self._listed(admin, partitions, spec.EARLIEST)
        latest = self._listed(admin, partitions, spec.LATEST)
        return {name: TopicOffsets(name, earliest[name], latest[name]) for name in partitions}

    def _listed(
        self, admin: KafkaAdminClient, partitions: Mapping[str, list[int]], moment: int
    ) -> dict[str, dict[int, int]]:
        from kafka.protocol.consumer import IsolationLevel

        committed = self._properties.get("isolation.level", "read_committed") != "read_uncommitted"  # Druid's default
        level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
        place = _kafka().TopicPartition
        asked = {place(name, number): moment for name, numbers in partitions.items() for number in numbers}
        found: dict[str, dict[int, int]] = {name: {} for name in partitions}
        for (name, number), answer in sorted((admin.list_partition_offsets(asked, level) if asked else {}).items()):
            found[name][number] = answer.offset
        return found

    def _problem(self, name: str, topic: Mapping[str, Any]) -> KafkaError | None:
        """Why the partitions of a topic cannot be asked for their offsets."""
        errors = _kafka().errors
        error = errors.for_code(topic["error_code"])
        if error in (errors.UnknownTopicOrPartitionError, errors.InvalidTopicError):
            return KafkaError(
                f"there is no topic '{name}' in Kafka at {self.bootstrap}", hint="create it, or set kafka.topic"
            )
        if error is not errors.NoError:
            return KafkaError(f"topic '{name}' cannot be read: {_words(error())}")
        lost = sorted(p["partition_index"] for p in topic["partitions"] if p["leader_id"] < 0)
        if lost:
            numbers = ", ".join(map(str, lost))
            return KafkaError(
                f"topic '{name}' has no leader for partition {numbers}", hint="see whether all brokers of Kafka run"
            )
        return None

    @contextmanager
    def _asking(self) -> Iterator[KafkaAdminClient]:
        """The open connection; what kafka-python raises becomes an error of ours."""
        if self._open is None:
            self._open = self._connected()
        errors = _kafka().errors
        try:
            yield self._open
        except (errors.KafkaConnectionError, errors.NodeNotReadyError, errors.KafkaTimeoutError) as error:
            raise self._unreachable(_words(error)) from error
        except errors.RequestTimedOutError as error:
            raise self._unreachable("no answer in time") from error
        except errors.KafkaError as error:
            raise KafkaError(f"Kafka at {self.bootstrap} refuses: {_words(error)}") from error

    def _connected(self) -> KafkaAdminClient:
        config = client_config(self._properties)
        broker = self._first_answering(config.get("ssl_context"))
        kafka = _kafka()
        made: list[Any] = []

        def client(**given: Any) -> Any:
            from kafka.net.compat import KafkaNetClient

            made.append(KafkaNetClient(**given, socket_connection_setup_timeout_ms=CONNECT_TIMEOUT * 1000))
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
            for opened in made:  # its constructor has started a thread
                opened.close()
            if isinstance(error, kafka.errors.KafkaTimeoutError):
                protocol = self._properties.get("security.protocol", "PLAINTEXT")
                raise ConnectError(
                    f"Kafka at {broker} does not answer to {protocol}",
                    hint="security.protocol has to be what the brokers listen for",
                ) from error
            raise KafkaError(f"Kafka at {broker} refuses: {_words(error)}") from error

    def _first_answering(self, context: ssl.SSLContext | None) -> str:
        """The first broker that takes a connection: kafka-python tries them at random, again and again, and says not why."""
        import socket
        import ssl
        from time import monotonic

        end = monotonic() + CONNECT_TIMEOUT
        reasons = []
        for server in filter(None, (part.strip() for part in self.bootstrap.split(","))):
            host, _, port = server.rpartition(":")
            if not host or not port.isdecimal() or int(port) > 65_535:
                raise KafkaError(
                    f"'{server}' is not the host:port of a Kafka broker", hint="see kafka.bootstrap.servers"
                )
            host = host.strip("[]")
            try:
                with socket.create_connection((host, int(port)), max(1.0, end - monotonic())) as connection:
                    if context is not None:
                        context.wrap_socket(connection, server_hostname=host).close()
                    return server
            except TimeoutError:
                reasons.append("no answer in time")
            except ssl.SSLCertVerificationError as error:
                reasons.append(f"its certificate is not trusted ({error.verify_message})")
            except ssl.SSLError:
                reasons.append("it does not speak TLS, which security.protocol asks for")
            except (OSError, UnicodeError) as error:
                reasons.append((getattr(error, "strerror", None) or str(error)).lower())
        raise self._unreachable(reasons[0] if reasons else "kafka.bootstrap.servers is empty")

    def _unreachable(self, reason: str) -> ConnectError:
        return ConnectError(
            f"cannot reach Kafka at {self.bootstrap} from this machine: {reason}",
            hint="see whether it runs, and kafka.bootstrap.servers",
        )


def client_config(properties: Mapping[str, str]) -> dict[str, Any]:
    """kafka-python's options for what a Java consumer's properties say of security. What concerns consuming is left out.

    Raises OnlyDruidError for what cannot be had here, KafkaError for what is wrong anywhere.
    """
    for name in properties:
        if _NOT_HERE.fullmatch(name):
            raise OnlyDruidError(f"'{name}' names a class of Java's, which only Druid can use")
    protocol = properties.get("security.protocol", "PLAINTEXT").upper()
    config: dict[str, Any] = {"security_protocol": protocol}
    if protocol not in ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"):
        raise KafkaError(f"security.protocol takes PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL, not '{protocol}'")
    if protocol.startswith("SASL"):
        config |= _sasl(properties)
    if protocol.endswith("SSL"):
        config["ssl_context"] = _ssl_context(properties)
    return config


def _sasl(properties: Mapping[str, str]) -> dict[str, Any]:
    mechanism = properties.get("sasl.mechanism", "GSSAPI")
    if mechanism not in _MECHANISMS:
        raise OnlyDruidError(f"sasl.mechanism {mechanism} is not possible from here, only {', '.join(_MECHANISMS)}")
    text = _resolved(properties, "sasl.jaas.config")
    if text is None:
        raise KafkaError(f"sasl.mechanism {mechanism} needs sasl.jaas.config")
    try:
        options = login_module(text).options
    except SemanticError as error:
        raise KafkaError(error.message, hint=error.hint) from None
    if not {"username", "password"} <= options.keys():
        raise KafkaError("sasl.jaas.config has no username or no password")
    return {
        "sasl_mechanism": mechanism,
        "sasl_plain_username": options["username"],
        "sasl_plain_password": options["password"],
    }


def _ssl_context(properties: Mapping[str, str]) -> ssl.SSLContext:
    """Python's view of ssl.*: certificates and keys have to be PEM, in a file or in the property itself."""
    import ssl

    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.check_hostname = properties.get("ssl.endpoint.identification.algorithm", "https") != ""
    try:
        trusted = _resolved(properties, "ssl.truststore.certificates") or _pem(properties, "truststore")
        if trusted:
            context = _trusting_only(context, trusted)
        chain, key = (_resolved(properties, f"ssl.keystore.{part}") for part in ("certificate.chain", "key"))
        pem = f"{key}\n{chain}" if chain and key else _pem(properties, "keystore")
        if pem:
            _show(context, pem, _resolved(properties, "ssl.key.password"))
    except ssl.SSLError as error:
        raise KafkaError(f"the certificates of ssl.* cannot be used: {error.reason or 'they are no PEM'}") from None
    return context


def _trusting_only(default: ssl.SSLContext, certificates: str) -> ssl.SSLContext:
    import ssl

    context = ssl.create_default_context(cadata=certificates)
    context.minimum_version, context.check_hostname = default.minimum_version, default.check_hostname
    return context


def _show(context: ssl.SSLContext, pem: str, password: str | None) -> None:
    """Load a client certificate, which Python takes from a file alone: one of our own, for that long."""
    from tempfile import NamedTemporaryFile

    with NamedTemporaryFile("w", suffix=".pem", encoding="utf-8") as file:
        file.write(pem)
        file.flush()
        context.load_cert_chain(file.name, password=password or "")


def _pem(properties: Mapping[str, str], store: str) -> str | None:
    """The content of ssl.truststore.location or ssl.keystore.location."""
    key = f"ssl.{store}.location"
    path = _resolved(properties, key)
    if path is None:
        return None
    if properties.get(f"ssl.{store}.type", "JKS").upper() != "PEM":
        raise OnlyDruidError(f"'{key}' is a key store of Java's, which only Druid can read")
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise OnlyDruidError(f"'{key}' cannot be read on this machine: {reason}") from None


def _resolved(properties: Mapping[str, str], name: str) -> str | None:
    """A property's value; of a reference, what this machine's environment says."""
    value = properties.get(name)
    if value and is_kept(value):
        raise OnlyDruidError(f"the value of '{name}' was given in clear to another session, which alone knows it")
    variable = referenced(value) if value else None
    if variable is None:
        return value
    if variable not in os.environ:
        raise OnlyDruidError(
            f"the environment variable {variable}, which '{name}' refers to, is not set on this machine",
            hint=f"set {variable} here, too, for what hivedruid asks Kafka itself",
        )
    return os.environ[variable]


def _words(error: Exception) -> str:
    """What an error of kafka-python says: the broker's own text where there is one, its name otherwise."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(error).__name__.removesuffix("Error")).lower()
    text = str(error)
    said = text.rpartition("] ")[2] if text.startswith("[Error") else text.rpartition(": ")[2]
    return f"{name}: {said}" if said and said != type(error).__name__ else name


def _kafka() -> Any:
    """kafka-python; below Python 3.13 it reads its resources in a way that is deprecated, and it logs what it raises, too."""
    import logging

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import kafka
        import kafka.admin
        import kafka.errors
    if not logging.getLogger("kafka").handlers:
        logging.getLogger("kafka").addHandler(logging.NullHandler())
    return kafka
