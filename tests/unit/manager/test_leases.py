"""Which manager runs a stream, by the leases in the catalog."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Thread
from time import monotonic, sleep, time

import pytest

from hivedruid.actions.streaming import manager as background
from hivedruid.catalog.connection import Connection
from hivedruid.catalog.store import Catalog
from hivedruid.catalog.streams import Position, Stream, Streams
from hivedruid.manager import manager as managers
from hivedruid.manager.manager import Manager
from hivedruid.session import Session
from hivedruid.streams.overview import ALIVE, is_run
from tests.support.postgres import Postgres

STREAM = Stream("abc", "default", "s", "default.r", "default.t", "SELECT id FROM r", "default")
LATE = 60.0


def until(is_so: Callable[[], bool]) -> None:
    deadline = monotonic() + LATE
    while not is_so():
        assert monotonic() < deadline
        sleep(0.02)


def test_one_manager_has_the_lease_until_it_expires(connect: Callable[[], Connection]) -> None:
    one, other = Streams(Catalog(connect())), Streams(Catalog(connect()))
    one.add(STREAM, Position(0, {}, "id"))
    assert not is_run(one.current(STREAM))
    assert one.lease(STREAM, "here:1:a", one.now(), ALIVE)
    assert not other.lease(STREAM, "there:1:b", other.now(), ALIVE)
    assert is_run(other.current(STREAM))
    assert one.lease(STREAM, "here:1:a", one.now(), ALIVE)
    assert other.lease(STREAM, "there:1:b", other.now() + ALIVE + 1, ALIVE)
    assert other.lease(STREAM, "there:1:b", other.now(), ALIVE)
    assert not one.lease(STREAM, "here:1:a", one.now(), ALIVE)
    other.release("there:1:b")
    assert not is_run(one.current(STREAM))


def test_times_are_those_of_the_database(connect: Callable[[], Connection], monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine whose clock is an hour ahead."""
    streams = Streams(Catalog(connect()))
    streams.add(STREAM, Position(0, {}, "id"))
    assert streams.lease(STREAM, "here:1:a", streams.now(), ALIVE)
    monkeypatch.setattr("hivedruid.catalog.streams.time", lambda: time() + 3600)
    assert is_run(streams.current(STREAM), time() + 3600)


@pytest.fixture
def homes(tmp_path: Path, postgres: Postgres) -> tuple[Path, Path]:
    """Two homes with one catalog, by their hivedruid.toml."""
    given = "".join(f'{key} = "{value}"\n' for key, value in postgres.settings().items())
    found = tmp_path / "one", tmp_path / "two"
    for home in found:
        home.mkdir(mode=0o700)
        (home / "hivedruid.toml").write_text(f"[settings]\n{given}")
    return found


def test_the_first_manager_of_all_homes_is_seen_in_all(homes: tuple[Path, Path]) -> None:
    said: list[str] = []
    first = Manager(homes[0], said.append)
    with Session(homes[1]) as session:
        assert not background.is_running(homes[1], session.catalog)
        running = Thread(target=first.run)
        running.start()
        try:
            until(lambda: background.is_running(homes[1], session.catalog))
            assert not background.start(homes[1], session.catalog, session.settings)
            Manager(homes[1], said.append, until_idle=True).run()  # another one is first: it ends at once
        finally:
            first.stop()
            running.join()
        assert not background.is_running(homes[1], session.catalog)
    assert [text for text in said if "manager" not in text] == []


def test_a_manager_that_loses_its_connection_goes_on(
    homes: tuple[Path, Path], postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(managers, "BEAT", 0.02)
    said: list[str] = []
    manager = Manager(homes[0], said.append)
    with Session(homes[1]) as session:
        mine = session.catalog.connection.execute("SELECT pg_backend_pid()").fetchone()[0]
        running = Thread(target=manager.run)
        running.start()
        try:
            until(lambda: background.is_running(homes[1], session.catalog))
            with postgres.connect() as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid, 10000) FROM pg_locks WHERE locktype = 'advisory' AND pid <> %s",
                    (mine,),
                )
            until(lambda: any("lost the connection" in text for text in said))
            until(lambda: background.is_running(homes[1], session.catalog))
        finally:
            manager.stop()
            running.join()
    assert sum("lost the connection" in text for text in said) == 1


def test_a_stream_does_not_keep_the_address_of_its_catalog(homes: tuple[Path, Path]) -> None:
    from hivedruid.actions.streaming.definition import _settings
    from hivedruid.settings import Settings

    with Session(homes[0]) as session:
        kept = _settings(Settings({**session.settings.changed(), "hivedruid.join.max.rows": "7"}))
    assert kept == {"hivedruid.join.max.rows": "7"}
