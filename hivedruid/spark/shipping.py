"""Sends the modules that read and build segments to a Spark on other machines, where hivedruid is not installed."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from zipfile import ZipFile, ZipInfo

from hivedruid.spark.segment_source import PACKAGE
from hivedruid.versions import VERSION

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

ROOT = Path(__file__).parents[2]


def ship(spark: SparkSession) -> None:
    """Add the modules to the session. Spark ignores a file that it already has."""
    with TemporaryDirectory() as folder:
        path = Path(folder, f"hivedruid-segments-{VERSION}.zip")
        write_package(path)
        spark.addArtifacts(str(path), pyfile=True)


def write_package(path: Path) -> None:
    """Write the modules as a zip, always with the same bytes: Spark refuses another file of the same name."""
    found = [file for name in PACKAGE for file in sorted({ROOT / name, *(ROOT / name).rglob("*.py")})]
    with ZipFile(path, "w") as archive:
        for file in found:
            if file.is_file():
                archive.writestr(ZipInfo(str(file.relative_to(ROOT))), file.read_bytes())
