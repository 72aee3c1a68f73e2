"""pyspark's Connect client, adapted to hivedruid's own servers. Importing this loads pyspark, gRPC, pandas and
pyarrow."""

from __future__ import annotations

import atexit
from contextlib import suppress
from typing import Any

import grpc
from pyspark.sql.connect.client import ChannelBuilder
from pyspark.sql.connect.session import SparkSession

from hivedruid.spark import sketch_functions
from hivedruid.spark.shipping import ship

_ISOLATION = "spark.sql.artifact.isolation.enabled"
"""Spark's setting: whether a session has its own Java class loader and Python workers."""


class OwnServer(ChannelBuilder):  # type: ignore[misc]
    """A channel to a server on this machine. pyspark sends a token over a plain-text connection only to `localhost`."""

    host = "127.0.0.1"

    def __init__(self, port: int, token: str, session: str = "") -> None:
        super().__init__()
        self._port, self._secret = port, token
        if session:
            self.set(self.PARAM_SESSION_ID, session)

    def toChannel(self) -> Any:  # noqa: N802 - pyspark's name
        token = grpc.access_token_call_credentials(self._secret)
        local = grpc.local_channel_credentials(grpc.LocalConnectionType.LOCAL_TCP)
        return self._secure_channel(f"{self.host}:{self._port}", grpc.composite_channel_credentials(local, token))


class Session(SparkSession):  # type: ignore[misc]
    """A session that is only closed by `close`."""

    def __init__(self, connection: ChannelBuilder) -> None:
        super().__init__(connection)
        atexit.unregister(self.client._cleanup_ml_cache)  # a final call for caches that are not used here
        self.release_session_on_close = False  # pyspark's implementation warns if the service is gone
        self.ships = False
        """Whether the workers need the code of hivedruid: they are on other machines."""
        self._sketch_functions: set[str] = set()

    def sql(self, text: str, *args: Any, **kwargs: Any) -> Any:
        self.prepare(text)
        return super().sql(text, *args, **kwargs)

    def prepare(self, text: str) -> None:
        """Register the functions of sketches that a text calls."""
        missing = sketch_functions.called(text) - self._sketch_functions
        if not missing:
            return
        if self.ships and not self._sketch_functions:
            ship(self)
        sketch_functions.register(self, sorted(missing))
        self._sketch_functions |= missing

    def close(self) -> None:
        """Release the session if the service is reachable, and close the connection."""
        with suppress(Exception):
            self.client.release_session()
        self.stop()

    def __del__(self) -> None:
        """pyspark closes the channel in whatever thread runs garbage collection; a gRPC thread would deadlock."""


def open_session(port: int, token: str, *, isolated: bool) -> Session:
    """A session on one of hivedruid's own servers; `isolated`: with its own Java class loader and Python workers."""
    spark = _connected(OwnServer(port, token))
    if isolated:
        return spark
    try:
        clone = _clone(spark)
    finally:
        spark.close()
    return _connected(OwnServer(port, token, clone))


def _connected(server: OwnServer) -> Session:
    spark = Session(server)
    spark.client.set_retry_policies([])  # a missing local server does not come back
    # One connection per result: reattachable execution is meant for networks and costs threads.
    spark.client.disable_reattachable_execute()
    return spark


def _clone(spark: Session) -> str:
    """The id of a session that is not isolated.

    Spark Connect isolates its sessions. Each then starts Python daemons of its own, which takes up to a second, and
    which run as long as the server. A session reads the setting once, before the first call can change it; its clone
    reads it again (Spark's ArtifactManager). pyspark's own `clone` would open a third connection.
    """
    from pyspark.sql.connect.proto import CloneSessionRequest, UserContext

    spark.conf.set(_ISOLATION, "false")
    client = spark.client
    user = UserContext(user_id=client._user_id or "")
    request = CloneSessionRequest(session_id=client._session_id, user_context=user, client_type="hivedruid")
    cloned: str = client._stub.CloneSession(request, metadata=client._builder.metadata()).new_session_id
    return cloned


def give_back(port: int, token: str, session: str, user: str) -> None:
    """Close a session that another process left open, and cancel its jobs."""
    from pyspark.sql.connect.proto import ReleaseSessionRequest, SparkConnectServiceStub, UserContext

    with OwnServer(port, token).toChannel() as channel:
        request = ReleaseSessionRequest(session_id=session, user_context=UserContext(user_id=user))
        SparkConnectServiceStub(channel).ReleaseSession(request, timeout=60)


def main(port: str, session: str, user: str) -> None:
    import os

    give_back(int(port), os.environ["SPARK_CONNECT_AUTHENTICATE_TOKEN"], session, user)


if __name__ == "__main__":
    import sys

    main(*sys.argv[1:])
