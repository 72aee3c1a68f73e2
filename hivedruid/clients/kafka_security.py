"""Converts the security properties of a Java consumer to options of kafka-python."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hivedruid.errors import KafkaError, SemanticError
from hivedruid.jaas import login_module
from hivedruid.kafka_secrets import OnlyDruidError, resolved
from hivedruid.oauth import ENDPOINT, HANDLER, HANDLERS, MECHANISM, token_source

if TYPE_CHECKING:
    import ssl

_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", MECHANISM)
_NOT_HERE = re.compile(
    r"sasl\..*callback\.handler\.class|ssl\.engine\.factory\.class|security\.providers|config\.providers.*"
)
"""Properties that name Java classes, which only Java can run."""


def client_config(properties: Mapping[str, str]) -> dict[str, Any]:
    """The kafka-python options for the security properties of a Java consumer; other properties are ignored.

    Raises OnlyDruidError for properties that cannot be used on this machine, KafkaError for invalid ones.
    """
    for name, value in properties.items():
        if _NOT_HERE.fullmatch(name) and not (name == HANDLER and value in HANDLERS):
            raise OnlyDruidError(f"'{name}' names a Java class, which hivedruid itself cannot use")
    protocol = properties.get("security.protocol", "PLAINTEXT").upper()
    config: dict[str, Any] = {"security_protocol": protocol}
    if protocol not in ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"):
        raise KafkaError(
            f"'{protocol}' is not a valid security.protocol: use PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL"
        )
    if protocol.startswith("SASL"):
        config |= _sasl(properties)
    if protocol.endswith("SSL"):
        config["ssl_context"] = _ssl_context(properties)
    return config


def _sasl(properties: Mapping[str, str]) -> dict[str, Any]:
    mechanism = properties.get("sasl.mechanism", "GSSAPI")
    if mechanism not in _MECHANISMS:
        raise OnlyDruidError(f"sasl.mechanism {mechanism} is not supported by hivedruid, only {', '.join(_MECHANISMS)}")
    text = _resolved(properties, "sasl.jaas.config")
    if text is None:
        raise KafkaError(f"sasl.mechanism {mechanism} needs sasl.jaas.config")
    try:
        login = login_module(text)
    except SemanticError as error:
        raise KafkaError(error.message, hint=error.hint) from None
    if mechanism == MECHANISM:
        from hivedruid.clients.kafka_tokens import token_provider

        given = {**properties, ENDPOINT: _resolved(properties, ENDPOINT) or ""}
        provider = token_provider(token_source(given, login))
        return {"sasl_mechanism": mechanism, "sasl_oauth_token_provider": provider}
    options = login.options
    if not {"username", "password"} <= options.keys():
        raise KafkaError("sasl.jaas.config is missing a username or password")
    return {
        "sasl_mechanism": mechanism,
        "sasl_plain_username": options["username"],
        "sasl_plain_password": options["password"],
    }


def _ssl_context(properties: Mapping[str, str]) -> ssl.SSLContext:
    """The SSL context of ssl.*: certificates and keys must be PEM, in a file or in the property itself."""
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
        raise KafkaError(
            f"the certificates of ssl.* cannot be used: {error.reason or 'they are not in PEM format'}"
        ) from None
    return context


def _trusting_only(default: ssl.SSLContext, certificates: str) -> ssl.SSLContext:
    import ssl

    context = ssl.create_default_context(cadata=certificates)
    context.minimum_version, context.check_hostname = default.minimum_version, default.check_hostname
    return context


def _show(context: ssl.SSLContext, pem: str, password: str | None) -> None:
    """Load a client certificate from a temporary file, because Python only reads certificates from files."""
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
        raise OnlyDruidError(
            f"'{key}' is a Java key store, which hivedruid itself cannot read",
            hint="convert it to PEM, and set the type to PEM",
        )
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not a text file"
        raise OnlyDruidError(f"'{key}' cannot be read on this machine: {reason}") from None


def _resolved(properties: Mapping[str, str], name: str) -> str | None:
    value = properties.get(name)
    return resolved(name, value) if value else value
