"""The properties of Kafka's SASL mechanism OAUTHBEARER: where tokens come from, as in Kafka's Java clients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from hivedruid.errors import KafkaError
from hivedruid.jaas import LoginModule
from hivedruid.kafka_secrets import OnlyDruidError
from hivedruid.lazy_dataclass import dataclass
from hivedruid.references import is_here

MECHANISM = "OAUTHBEARER"
ENDPOINT = "sasl.oauthbearer.token.endpoint.url"
HANDLER = "sasl.login.callback.handler.class"
_PACKAGE = "org.apache.kafka.common.security.oauthbearer"
_ENDPOINT_HANDLER = f"{_PACKAGE}.OAuthBearerLoginCallbackHandler"
HANDLERS = (_ENDPOINT_HANDLER, f"{_PACKAGE}.secured.OAuthBearerLoginCallbackHandler")
"""The class of Java's clients that requests tokens from an endpoint, with its older name."""
_UNSECURED = "unsecuredLogin"
"""The beginning of the options with the claims of tokens without signature, which only test brokers accept."""
_ENDPOINT_OPTIONS = ("clientId", "clientSecret", "scope")


@dataclass(frozen=True)
class TokenSource:
    """An endpoint for the credentials of a client, a file with a token (`endpoint` is `file:…`), or the options of
    tokens without signature. `extensions` are sent to the broker with each token."""

    endpoint: str = ""
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    scope: str = ""
    claims: tuple[tuple[str, str], ...] = ()
    extensions: tuple[tuple[str, str], ...] = ()


def token_source(properties: Mapping[str, str], login: LoginModule) -> TokenSource:
    """Raises KafkaError, without the secrets, for options that are missing or not supported."""
    if not login.class_name.startswith(f"{_PACKAGE}."):
        raise KafkaError(
            f"sasl.mechanism {MECHANISM} requires the login module {_PACKAGE}.OAuthBearerLoginModule",
            hint="name it in sasl.jaas.config",
        )
    endpoint, options = properties.get(ENDPOINT, ""), login.options
    prefix = "extension_" if endpoint else f"{_UNSECURED}Extension_"
    extensions = {key.removeprefix(prefix): value for key, value in options.items() if key.startswith(prefix)}
    given = {key: value for key, value in options.items() if not key.startswith(prefix)}
    if not endpoint:
        return TokenSource(claims=_claims(given), extensions=tuple(extensions.items()))
    if unknown := sorted(given.keys() - {*_ENDPOINT_OPTIONS}):
        raise OnlyDruidError(
            f"sasl.jaas.config has the option '{unknown[0]}', which is not supported with {ENDPOINT}",
            hint=f"supported: {', '.join(_ENDPOINT_OPTIONS)}, extension_…",
        )
    if not endpoint.startswith("file:"):
        _check_endpoint(endpoint, given)
    return TokenSource(
        endpoint, given.get("clientId", ""), given.get("clientSecret", ""), given.get("scope", ""),
        extensions=tuple(extensions.items()),
    )  # fmt: skip


def login_handler(properties: Mapping[str, str]) -> dict[str, str]:
    """The property with which a Java client requests tokens from the endpoint of its properties."""
    if properties.get("sasl.mechanism") != MECHANISM or ENDPOINT not in properties:
        return {}
    return {HANDLER: properties.get(HANDLER, _ENDPOINT_HANDLER)}


def _claims(options: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    if not any(key.startswith(_UNSECURED) for key in options):
        raise KafkaError(
            f"sasl.mechanism {MECHANISM} requires {ENDPOINT}",
            hint="set it, and clientId and clientSecret in sasl.jaas.config",
        )
    return tuple((key.removeprefix(_UNSECURED), value) for key, value in options.items())


def _check_endpoint(endpoint: str, options: Mapping[str, str]) -> None:
    from urllib.parse import urlsplit

    if not {"clientId", "clientSecret"} <= options.keys():
        raise KafkaError("sasl.jaas.config is missing a clientId or clientSecret")
    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise KafkaError(f"{ENDPOINT} is not a URL of http, https or a file")
    if parts.scheme == "http" and not is_here(parts.hostname):
        raise OnlyDruidError(
            f"the secret of {ENDPOINT} would be sent to {parts.hostname} over plain http", hint="use https"
        )
