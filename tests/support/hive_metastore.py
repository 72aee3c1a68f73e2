"""A real standalone Hive metastore 4.0.1 in one JVM, on Derby in memory, from jars that `hive_metastore.json` pins."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet
from hive_metastore import ThriftHiveMetastore, ttypes
from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport

from hivedruid.iceberg import home_catalog
from hivedruid.local import artifacts
from hivedruid.local.artifacts import Artifact
from hivedruid.local.java import java_command
from hivedruid.local.processes import choose_port
from hivedruid.session import Session

PATIENCE = 300.0


@contextmanager
def hive_metastore(folder: Path, port: int | None = None) -> Iterator[str]:
    """The URI of a metastore with its warehouse below `folder`, which listens on localhost only."""
    port = port or choose_port(None, ())
    properties = {
        "javax.jdo.option.ConnectionURL": "jdbc:derby:memory:metastore;create=true",
        "javax.jdo.option.ConnectionDriverName": "org.apache.derby.jdbc.EmbeddedDriver",
        "datanucleus.schema.autoCreateAll": "true",
        "hive.metastore.schema.verification": "false",
        "hive.metastore.thrift.bind.host": "127.0.0.1",
        "metastore.expression.proxy": "org.apache.hadoop.hive.metastore.DefaultPartitionExpressionProxy",
        "metastore.warehouse.dir": str(folder / "managed"),
        "metastore.warehouse.external.dir": str(folder / "external"),
        "metastore.task.threads.always": "",
        "metastore.task.threads.remote": "",
        "metastore.event.db.notification.api.auth": "false",
    }
    options = [part for item in properties.items() for part in ("--hiveconf", "=".join(item))]
    classes = os.pathsep.join(map(str, jars()))
    command = [
        str(java_command()), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx256m",
        f"-Dderby.stream.error.file={folder / 'derby.log'}", "-cp", classes,
        "org.apache.hadoop.hive.metastore.HiveMetaStore", "-p", str(port), *options,
    ]  # fmt: skip
    with (folder / "metastore.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        try:
            wait(port, process, folder / "metastore.log")
            yield f"thrift://127.0.0.1:{port}"
        finally:
            process.kill()
            process.wait()


def jars() -> list[Path]:
    listed = json.loads(Path(__file__).with_suffix(".json").read_text())
    return artifacts.resolve([Artifact(**entry) for entry in listed])


def wait(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 5).close()
        except OSError:
            assert process.poll() is None, log.read_text()
            assert monotonic() < deadline, log.read_text()
            sleep(0.05)
        else:
            return


LAZY = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
ORC = "org.apache.hadoop.hive.ql.io.orc.OrcSerde"
PARQUET = "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"
INPUT = {
    LAZY: "org.apache.hadoop.mapred.TextInputFormat",
    ORC: "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat",
    PARQUET: "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
}


class Hive:
    """What Hive does in a metastore when it creates databases, tables and partitions."""

    def __init__(self, uri: str) -> None:
        host, port = uri.removeprefix("thrift://").split(":")
        self._transport = TBufferedTransport(TSocket(host, int(port)))
        self._transport.open()
        self._client = ThriftHiveMetastore.Client(TBinaryProtocolAccelerated(self._transport))

    def close(self) -> None:
        self._transport.close()

    def create_database(self, name: str, comment: str = "") -> None:
        self._client.create_database(ttypes.Database(name=name, description=comment))

    def create_table(
        self,
        name: str,
        columns: str,
        location: Path | str | None = None,
        serde: str = LAZY,
        *,
        partitioned_by: str = "",
        serde_properties: Mapping[str, str] | None = None,
        view: str | None = None,
        managed: bool = False,
        buckets: int = -1,
        properties: Mapping[str, str] | None = None,
    ) -> None:
        """`columns` are `name type, …`, `name` is `database.table`."""
        database, table = name.split(".")
        storage = _storage(columns, location, serde, {"serialization.format": "1", **(serde_properties or {})})
        storage.numBuckets = buckets
        type_ = "VIRTUAL_VIEW" if view is not None else "MANAGED_TABLE" if managed else "EXTERNAL_TABLE"
        own = {"EXTERNAL": "TRUE"} if type_ == "EXTERNAL_TABLE" else {}
        made = ttypes.Table(
            tableName=table, dbName=database, owner="hive", sd=storage, partitionKeys=_fields(partitioned_by),
            parameters={**own, **(properties or {})}, tableType=type_, viewOriginalText=view, viewExpandedText=view,
            createTime=0, lastAccessTime=0, retention=0,
        )  # fmt: skip
        request = ttypes.CreateTableRequest(table=made, processorCapabilities=["HIVEMANAGEDINSERTWRITE"])
        self._client.create_table_req(request)

    def add_partition(self, name: str, *values: str, location: Path | str, serde: str = LAZY, columns: str) -> None:
        database, table = name.split(".")
        storage = _storage(columns, location, serde, {"serialization.format": "1"})
        made = ttypes.Partition(
            values=[*values],
            dbName=database,
            tableName=table,
            sd=storage,
            parameters={},
            createTime=0,
            lastAccessTime=0,
        )
        self._client.add_partitions([made])

    def table(self, name: str) -> Any:
        database, table = name.split(".")
        return self._client.get_table_req(ttypes.GetTableRequest(dbName=database, tblName=table)).table

    def partitions(self, name: str) -> list[str]:
        return sorted(self._client.get_partition_names(*name.split("."), -1))

    def drop_table(self, name: str) -> None:
        self._client.drop_table(*name.split("."), deleteData=False)


def _fields(columns: str) -> list[Any]:
    pairs = (item.strip().split(" ", 1) for item in columns.split(",") if item.strip())
    return [ttypes.FieldSchema(name, type_, "") for name, type_ in pairs]


def _storage(columns: str, location: Path | str | None, serde: str, properties: Mapping[str, str]) -> Any:
    return ttypes.StorageDescriptor(
        cols=_fields(columns), location=None if location is None else str(location), inputFormat=INPUT.get(serde, ""),
        outputFormat="", numBuckets=-1, bucketCols=[], sortCols=[], parameters={},
        serdeInfo=ttypes.SerDeInfo(name="", serializationLib=serde, parameters=dict(properties)),
    )  # fmt: skip


def fill(hive: Hive, data: Path) -> None:
    """A database `sales` with tables of each format."""
    hive.create_database("sales", "of Hive")
    write(data / "people" / "1.csv", "ann,30\nbob,\\N\n")
    hive.create_table("sales.people", "name string, age int", data / "people",
        serde_properties={"field.delim": ",", "serialization.format": ","}, properties={"team": "a"})  # fmt: skip
    hive.create_table("sales.adults", "name string, next int", None,
        view="SELECT `people`.`name`, `people`.`age` + 1 AS `next` FROM `sales`.`people` WHERE `people`.`age` > 18")  # fmt: skip
    hive.create_table("sales.days", "n int", data / "days", partitioned_by="d string, k int")
    for day, key, place in (("2024-01-01", "1", "days/d=2024-01-01/k=1"), ("2024-01-02", "2", "elsewhere/x")):
        write(data / place / "a.txt", f"{key}\n{key}0\n")
        hive.add_partition("sales.days", day, key, location=data / place, columns="n int")
    orc = data / "days/d=2024-01-03/k=3"
    orc.mkdir(parents=True)
    pyarrow.orc.write_table(pa.table({"n": pa.array([3], pa.int32())}), orc / "a.orc")
    hive.add_partition("sales.days", "2024-01-03", "3", location=orc, serde=ORC, columns="n int")
    (data / "parq").mkdir()
    pyarrow.parquet.write_table(pa.table({"a": pa.array([1, 2], pa.int32()), "v": ["x", "y"]}), data / "parq" / "1")
    hive.create_table("sales.parq", "a int, v varchar(5)", data / "parq", PARQUET)
    hive.create_table("sales.acid", "a int", None, PARQUET, managed=True,
        properties={"transactional": "true", "transactional_properties": "insert_only"})  # fmt: skip
    hive.create_table("default.people", "x int", data / "other")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def run(session: Session, text: str) -> list[tuple[object, ...]]:
    return [row for statement in session.statements(text) for row in session.execute(statement).rows]


def names(session: Session, text: str) -> list[object]:
    return [row[0] for row in run(session, text)]


def plan(session: Session, query: str) -> str:
    return "\n".join(str(row[0]) for row in run(session, f"EXPLAIN {query}"))


def make_iceberg(session: Session, hive: Hive) -> Path:
    """An Iceberg table `sales.ice` with two rows; its metadata file."""
    run(session, "CREATE TABLE ice AS SELECT 1 AS a, 'x' AS s; INSERT INTO ice VALUES (2, 'y')")
    metadata = home_catalog.current_metadata(session.home, session.catalog.get("default", "ice").table_id)
    assert metadata is not None
    hive.create_table("sales.ice", "a int, s string", session.home / "ice", "org.apache.iceberg.mr.hive.HiveIcebergSerDe",
        properties={"table_type": "ICEBERG", "metadata_location": f"file:{metadata}"})  # fmt: skip
    return metadata
