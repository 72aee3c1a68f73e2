"""Another user of the machine, who calls the ports of a Spark driver with Spark's own RPC client.

    python -m tests.support.spark_stranger SECRET SECONDS PORT …       prints a line for each call

The calls have a timeout in seconds.

An empty secret stands for a client without authentication.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HANDLED = re.compile(r"answered|StreamCorruptedException|NotFoundException")
"""What a call returns if Spark has processed the message: a reply, the failure to deserialize what was sent, or the
failure to find the endpoint or block that was requested."""
ENDPOINTS = ("BlockManagerMaster", "CoarseGrainedScheduler")


def listening(process: int) -> dict[int, str]:
    """The TCP ports on which a process listens, with the addresses in the notation of /proc/net/tcp."""
    sockets = {str(entry.readlink()) for entry in Path(f"/proc/{process}/fd").iterdir()}
    lines = [
        line.split()
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/{process}/net/{table}").read_text(encoding="ascii").splitlines()[1:]
    ]
    found = [fields[1].split(":") for fields in lines if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets]
    return {int(port, 16): address for address, port in found}


def calls(secret: str, ports: list[int], *, patience: int = 3) -> list[str]:
    """The results of the calls of a stranger with this secret, who waits this many seconds for each."""
    command = [sys.executable, "-m", "tests.support.spark_stranger", secret, *map(str, (patience, *ports))]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=900)
    return [line for line in done.stdout.splitlines() if line.startswith(("answered ", "failed "))]


def main(secret: str, patience: int, ports: list[int]) -> None:
    from py4j.protocol import Py4JJavaError
    from pyspark.java_gateway import launch_gateway

    gateway = launch_gateway()
    client = _Client(gateway, secret, patience)
    for port in ports:
        for call in (*(lambda port, name=name: client.endpoint(port, name) for name in ENDPOINTS), client.block):
            try:
                print("answered", call(port))
            except Py4JJavaError as error:
                print("failed", " ".join(_causes(error.java_exception)).replace("\n", " "))
    gateway.shutdown()


def _causes(exception: Any) -> Iterator[str]:
    while exception is not None:
        yield exception.toString()
        exception = exception.getCause()


class _Client:
    def __init__(self, gateway: Any, secret: str, patience: int) -> None:
        self._gateway = gateway
        self._patience = patience
        self._jvm = jvm = gateway.jvm
        none = getattr(getattr(jvm.scala, "None$"), "MODULE$")
        spark = jvm.org.apache.spark
        conf = spark.SparkConf(False)
        conf.set("spark.rpc.lookupTimeout", f"{patience}s").set("spark.rpc.askTimeout", f"{patience}s")
        if secret:
            conf.set("spark.authenticate", "true").set("spark.authenticate.secret", secret)
            conf.set("spark.network.crypto.enabled", "true")
        secret_file = getattr(getattr(spark.internal.config, "package$"), "MODULE$").AUTH_SECRET_FILE()
        security = spark.SecurityManager(conf, none, secret_file)
        transport = spark.network.netty.SparkTransportConf.fromSparkConf(conf, "shuffle", 1, none, none)
        bootstraps = jvm.java.util.ArrayList()
        if secret:
            bootstraps.add(spark.network.crypto.AuthClientBootstrap(transport, "stranger", security))
        context = spark.network.TransportContext(transport, spark.network.server.NoOpRpcHandler())
        self._transport = context.createClientFactory(bootstraps)
        self._rpc = spark.rpc.RpcEnv.create("stranger", "127.0.0.1", 0, conf, security, True)

    def endpoint(self, port: int, name: str) -> Any:
        """A reference to one of the driver's endpoints. The driver deserializes the request."""
        return self._rpc.setupEndpointRef(self._jvm.org.apache.spark.rpc.RpcAddress("127.0.0.1", port), name)

    def block(self, port: int) -> Any:
        """A request for a block."""
        blocks = self._gateway.new_array(self._jvm.java.lang.String, 1)
        blocks[0] = "broadcast_0"
        message = self._jvm.org.apache.spark.network.shuffle.protocol.OpenBlocks("stranger", "driver", blocks)
        return self._transport.createClient("127.0.0.1", port).sendRpcSync(
            message.toByteBuffer(), self._patience * 1000
        )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), [int(port) for port in sys.argv[3:]])
