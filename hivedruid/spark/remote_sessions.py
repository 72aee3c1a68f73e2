"""Sessions on Spark Connect servers of others (`spark.remote`), which no keeper of hivedruid watches.

The home remembers each of them in a file that its process locks, before its first job. If the process is killed, the
server continues the job: the next command of the home that finds the file unlocked ends the session, and with it its
jobs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from time import time
from uuid import uuid4

from hivedruid.errors import UsageError
from hivedruid.lazy_dataclass import dataclass
from hivedruid.locks import Lock
from hivedruid.private import private_folder

_PATIENCE = 10.0
"""Seconds to wait for the server of a lost session."""
_LONGEST = 86_400.0
"""Seconds after which a session whose server cannot be reached is not remembered any longer."""


@dataclass(frozen=True)
class RemoteSession:
    """`token` is the setting `spark.remote.token`, a reference to the token."""

    url: str
    token: str
    session: str
    user: str


class RemoteMark:
    """The file of a session of this process."""

    def __init__(self, home: Path, session: RemoteSession) -> None:
        folder = _folder(home)
        private_folder(folder.parent)
        private_folder(folder)
        fresh = folder / f".{uuid4().hex}"
        self._lock = Lock(fresh)
        self._lock.take()
        fresh.write_text(json.dumps(asdict(session)), encoding="utf-8")
        self._path = fresh.rename(folder / session.session)

    def remove(self) -> None:
        self._path.unlink(missing_ok=True)
        self._lock.close()


def end_lost(home: Path, settings: Mapping[str, str]) -> bool:
    """End the sessions of processes that were killed; returns whether there was one. Those whose server cannot be
    reached are tried again by the next command."""
    ended = False
    for path, lock in _lost(home):
        with lock, suppress(OSError, ValueError, TypeError):
            known = RemoteSession(**json.loads(path.read_text(encoding="utf-8")))
            if _end(known, settings) or time() - path.stat().st_mtime > _LONGEST:
                path.unlink(missing_ok=True)
                ended = True
    return ended


def _folder(home: Path) -> Path:
    return home / "spark" / "remote"


def _lost(home: Path) -> Iterator[tuple[Path, Lock]]:
    """The file of each session whose process has ended, with its lock."""
    folder = _folder(home)
    for path in folder.iterdir() if folder.is_dir() else ():
        with suppress(FileNotFoundError):
            lock = Lock(path, create=False)
            if not path.name.startswith(".") and lock.take() and path.exists():
                yield path, lock
            else:
                lock.close()


def _end(known: RemoteSession, settings: Mapping[str, str]) -> bool:
    """Release a session, which interrupts its jobs; whether the server has answered."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    import grpc
    from pyspark.sql.connect.proto import ReleaseSessionRequest, SparkConnectServiceStub, UserContext

    from hivedruid.spark.remote import channel_builder

    is_current = settings.get("spark.remote") == known.url
    try:
        builder = channel_builder(known.url, settings.get("spark.remote.token", "") if is_current else known.token)
    except UsageError:  # the token is not known any longer
        return False
    request = ReleaseSessionRequest(session_id=known.session, user_context=UserContext(user_id=known.user))
    try:
        with builder.toChannel() as channel:
            SparkConnectServiceStub(channel).ReleaseSession(request, timeout=_PATIENCE, metadata=builder.metadata())
    except grpc.RpcError as error:
        unanswered = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAUTHENTICATED)
        return error.code() not in unanswered
    return True
