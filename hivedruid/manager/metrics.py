"""The HTTP server of `hivedruid streams run --metrics`, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import AF_INET6
from threading import Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from hivedruid.actions.streaming.watch import known_streams, overview, with_topics
from hivedruid.catalog.opening import is_there
from hivedruid.errors import ConnectError, ExecutionError, HiveDruidError, UsageError
from hivedruid.manager.exposition import families, rendered
from hivedruid.session import Session

if TYPE_CHECKING:
    from hivedruid.ingestion.overview import Ingestion, Known
    from hivedruid.settings import Settings
    from hivedruid.streams.overview import StreamOverview

PATIENCE = 4.0
"""Seconds for the responses of Kafka, and of Druid: a scrape ends within Prometheus' default of ten seconds."""
FRESH = 1.0
"""Seconds in which a scrape returns what the previous one found."""
LOCALHOST = "127.0.0.1"


def listening(text: str) -> tuple[str, int]:
    """The host and port of [HOST]:PORT. Raises UsageError."""
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65_535:
        raise UsageError(f"'{text}' is not [HOST]:PORT", hint="use for example --metrics :9400")
    return host.strip("[]") or LOCALHOST, int(port)


@contextmanager
def serving(home: Path, host: str, port: int) -> Iterator[str]:
    """Serve the metrics of a home in a thread; yields their URL. Raises ExecutionError if the port cannot be used."""
    shown = f"[{host}]" if ":" in host else host
    kind = _IPv6Server if ":" in host else _Server
    try:
        server = kind((host, port), partial(_Handler, Metrics(home)))
    except (OSError, UnicodeError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise ExecutionError(f"cannot listen on {shown}:{port}: {reason}", hint="choose another --metrics") from error
    with server:
        Thread(target=server.serve_forever, name="metrics", daemon=True).start()
        try:
            yield f"http://{shown}:{server.server_address[1]}/metrics"
        finally:
            server.shutdown()


class Metrics:
    """The metrics of a home as text. Scrapes at the same time wait for one answer."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._lock = Lock()
        self._text = ""
        self._until = 0.0

    def text(self) -> str:
        with self._lock:
            if monotonic() >= self._until:
                self._text = self._scraped()
                self._until = monotonic() + FRESH
            return self._text

    def _scraped(self) -> str:
        """A service that does not respond has no samples."""
        try:
            seen, druid = self._from_catalog()
        except (HiveDruidError, OSError):
            return rendered(families(overview((), self._home), (), {"catalog": False}))
        found = druid.begin() if druid is not None else None
        seen = with_topics(seen, PATIENCE)
        up = {"catalog": True, **_kafkas(seen)}
        ingestions: Sequence[Ingestion] | None = ()
        if found is not None:
            ingestions = found.ingestions()
            up["druid"] = ingestions is not None
        return rendered(families(seen, ingestions or (), up))

    def _from_catalog(self) -> tuple[StreamOverview, _Druid | None]:
        from hivedruid.actions.watching.run import known
        from hivedruid.engine.capabilities import KafkaIngestion
        from hivedruid.engine.kinds import session_kind

        if not is_there(self._home):
            raise ExecutionError(f"there is no catalog in {self._home}")
        with Session(self._home, background="metrics") as session:
            seen = overview(known_streams(session.catalog), self._home, session.catalog)
            has_druid = session_kind(session.settings).has(KafkaIngestion)
            druid = _Druid(self._home, session.settings, known(session.catalog, self._home)) if has_druid else None
            return seen, druid


def _kafkas(seen: StreamOverview) -> dict[str, bool]:
    """Whether each Kafka responded. Of one whose properties only Druid can use, nothing is known."""
    up: dict[str, bool] = {}
    away = {one.service for one in seen.unreachable}
    for one in seen.streams:
        if one.feed is not None and (one.offsets is not None or one.topic_problem):
            up.setdefault(f"kafka:{one.feed.bootstrap}", True)
        elif one.feed is not None and f"Kafka at {one.feed.bootstrap}" in away:
            up[f"kafka:{one.feed.bootstrap}"] = False
    return up


class _Druid:
    """Asks Druid in a thread, which is not awaited longer than PATIENCE."""

    def __init__(self, home: Path, settings: Settings, known: Known) -> None:
        self._home, self._settings, self._known = home, settings, known
        self._found: Sequence[Ingestion] | None = None
        self._thread = Thread(target=self._ask, name="metrics of Druid", daemon=True)

    def begin(self) -> _Druid:
        self._thread.start()
        return self

    def ingestions(self) -> Sequence[Ingestion] | None:
        """None: Druid does not respond."""
        self._thread.join(PATIENCE)
        return self._found

    def _ask(self) -> None:
        from hivedruid.clients.address import address
        from hivedruid.clients.observe import Observer
        from hivedruid.local.state import running

        try:
            with Observer(address(self._settings, running(self._home)).within(PATIENCE)) as observer:
                self._found = observer.ingestions(self._known).ingestions
        except (HiveDruidError, ConnectError):
            return


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that closed its connection is no error of the manager."""


class _IPv6Server(_Server):
    address_family = AF_INET6


class _Handler(BaseHTTPRequestHandler):
    server_version = "hivedruid"
    sys_version = ""
    timeout = PATIENCE

    def __init__(self, metrics: Metrics, *given: Any) -> None:
        self._metrics = metrics
        super().__init__(*given)

    def do_GET(self) -> None:
        if self.path.partition("?")[0] == "/metrics":
            self._send(200, "text/plain; version=0.0.4; charset=utf-8", self._metrics.text())
        else:
            self._send(404, "text/plain; charset=utf-8", "the metrics are at /metrics\n")

    def _send(self, code: int, kind: str, text: str) -> None:
        content = text.encode()
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the library's
        """Scrapes are not logged."""
