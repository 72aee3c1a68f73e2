"""File systems of Hadoop that need jars which Spark does not contain."""

from __future__ import annotations

import re

from hivedruid.lazy_dataclass import dataclass
from hivedruid.local.artifacts import pyspark_folder


@dataclass(frozen=True)
class FileSystem:
    """`signs` are parts of Spark's message if its classes are missing; `jars` their names, with `{hadoop}` for the
    version of Hadoop's jars in Spark; `settings` are needed besides."""

    schemes: str
    signs: tuple[str, ...]
    jars: tuple[str, ...]
    settings: str = ""


FILE_SYSTEMS = (
    FileSystem(
        "s3a://", ("S3AFileSystem not found", "NoClassDefFoundError: software/amazon/awssdk"),
        ("hadoop-aws-{hadoop}.jar", "bundle-2.x.jar (software.amazon.awssdk:bundle)"),
    ),
    FileSystem(
        "s3:// and s3n://", ('No FileSystem for scheme "s3"', 'No FileSystem for scheme "s3n"'),
        ("hadoop-aws-{hadoop}.jar", "bundle-2.x.jar (software.amazon.awssdk:bundle)"),
        "SET spark.hadoop.fs.s3.impl=org.apache.hadoop.fs.s3a.S3AFileSystem",
    ),
    FileSystem(
        "abfs:// and wasb://", ("AzureBlobFileSystem not found", "NativeAzureFileSystem not found"),
        ("hadoop-azure-{hadoop}.jar",),
    ),
    FileSystem(
        "gs://", ('No FileSystem for scheme "gs"', "GoogleHadoopFileSystem not found"),
        ("gcs-connector-hadoop3-shaded.jar (com.google.cloud.bigdataoss:gcs-connector)",),
        "SET spark.hadoop.fs.gs.impl=com.google.cloud.hadoop.fs.gcs.GoogleHadoopFileSystem",
    ),
)  # fmt: skip
_UNKNOWN = re.compile(r'No FileSystem for scheme "(\w+)"')


def missing(text: str) -> tuple[str, str] | None:
    """The message and the hint for the text of an error, if the classes of a file system are missing."""
    for system in FILE_SYSTEMS:
        if any(sign in text for sign in system.signs):
            jars = [jar.format(hadoop=hadoop_version()) for jar in system.jars]
            return f"Spark cannot read {system.schemes}: it lacks {' and '.join(jars)}", _hint(system.settings)
    unknown = _UNKNOWN.search(text)
    if unknown is None:
        return None
    scheme = unknown[1]
    return f"Spark has no file system for {scheme}://", _hint(f"SET spark.hadoop.fs.{scheme}.impl=its class")


def _hint(settings: str) -> str:
    paths = "SET spark.driver.extraClassPath=/path/first.jar:/path/second.jar before the first Spark job"
    return "; ".join(filter(None, [paths, settings, "on a cluster also SET spark.jars to them"]))


def hadoop_version() -> str:
    """That of Hadoop's jars in Spark."""
    names = sorted(path.name for path in (pyspark_folder() / "jars").glob("hadoop-client-api-*.jar"))
    return names[0].removeprefix("hadoop-client-api-").removesuffix(".jar") if names else "…"
