"""The address of Druid and the connection options, from the settings of a session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from hivedruid.errors import ConnectError, UsageError
from hivedruid.lazy_dataclass import dataclass
from hivedruid.references import SECURITY_PAGE, check_transport
from hivedruid.secrets import masked
from hivedruid.setting_types import seconds

if TYPE_CHECKING:
    from typing import Protocol

    class LocalServices(Protocol):
        """The URLs of the cluster that `hivedruid local up` started."""

        @property
        def broker(self) -> str: ...
        @property
        def coordinator(self) -> str: ...
        @property
        def overlord(self) -> str: ...


Service = Literal["broker", "coordinator", "overlord"]


@dataclass(frozen=True)
class DruidAddress:
    """The services of one Druid cluster. `url` is its `druid.url`, as shown in messages.

    With a router, all three URLs are the router's. `password` and `token` are references (env:NAME,
    file:PATH) and are read when a connection is made. Timeouts are in seconds, 0 is none; `tries` counts the first.
    """

    url: str
    broker: str
    coordinator: str
    overlord: str
    username: str = ""
    password: str = ""
    token: str = ""
    ca_file: str = ""
    certificate_file: str = ""
    key_file: str = ""
    read_timeout: float = 60.0
    query_timeout: float = 300.0
    tries: int = 5

    @property
    def has_secrets(self) -> bool:
        return bool(self.username or self.token)

    def within(self, seconds: float) -> DruidAddress:
        """The same without retries, and with this many seconds for a response at most."""
        return replace(
            self,
            tries=1,
            read_timeout=min(self.read_timeout or seconds, seconds),
            query_timeout=min(self.query_timeout or seconds, seconds),
        )

    def base(self, service: Service) -> str:
        return {"broker": self.broker, "coordinator": self.coordinator, "overlord": self.overlord}[service]


def address(settings: Mapping[str, str], local: LocalServices | None = None) -> DruidAddress:
    """The address from the settings `druid.*`; `local` are the running services of the home's own cluster.

    Raises ConnectError for `druid.url=local` if none runs, UsageError for a URL that contains credentials, and
    for a password or token that would be sent over plain http.
    """
    url = settings["druid.url"]
    if url == "local":
        if local is None:
            raise ConnectError("the local cluster is not running", hint="run hivedruid local up")
        broker, coordinator, overlord = local.broker, local.coordinator, local.overlord
    else:
        broker = url
        coordinator = settings["druid.coordinator.url"] or broker
        overlord = settings["druid.overlord.url"] or coordinator
    for key in ("druid.url", "druid.coordinator.url", "druid.overlord.url"):
        if masked(key, settings[key]) != settings[key]:
            raise UsageError(
                f"{key} must not contain credentials: its value is displayed and logged",
                hint="remove them, and set druid.auth.username and druid.auth.password, or druid.auth.token,"
                f" to env:NAME or file:PATH; {SECURITY_PAGE}",
            )
    for service in (broker, coordinator, overlord):
        for key in ("druid.auth.password", "druid.auth.token"):
            if settings[key]:
                check_transport(service, key, settings)
    return DruidAddress(
        url,
        broker.rstrip("/"),
        coordinator.rstrip("/"),
        overlord.rstrip("/"),
        username=settings["druid.auth.username"],
        password=settings["druid.auth.password"],
        token=settings["druid.auth.token"],
        ca_file=settings["druid.tls.ca.file"],
        certificate_file=settings["druid.tls.certificate.file"],
        key_file=settings["druid.tls.key.file"],
        read_timeout=seconds(settings["hive.druid.http.read.timeout"]),
        query_timeout=seconds(settings["druid.query.timeout"]),
        tries=max(1, int(settings["hive.druid.maxTries"])),
    )
