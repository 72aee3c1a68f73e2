"""The status of Druid's services, for `doctor`."""

from __future__ import annotations

from hivedruid.clients import wire
from hivedruid.clients.address import Service
from hivedruid.clients.druid import DruidClient
from hivedruid.errors import ExecutionError
from hivedruid.lazy_dataclass import dataclass

SERVICES: tuple[Service, ...] = ("broker", "coordinator", "overlord")


@dataclass(frozen=True)
class ServiceStatus:
    """A Druid service: its version and extensions, or why it does not respond."""

    service: Service
    url: str
    version: str = ""
    extensions: tuple[str, ...] = ()
    problem: str = ""


def service_status(client: DruidClient, service: Service, url: str) -> ServiceStatus:
    try:
        status = client.get(service, "/status", wire.Status)
    except ExecutionError as error:
        return ServiceStatus(service, url, problem=error.message)
    return ServiceStatus(service, url, status.version, tuple(sorted(status.artifacts)))
