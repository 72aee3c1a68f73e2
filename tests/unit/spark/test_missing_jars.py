"""Errors for file systems whose jars are missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivedruid.spark import failures
from hivedruid.spark.missing_jars import hadoop_version


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            "java.lang.ClassNotFoundException: Class org.apache.hadoop.fs.s3a.S3AFileSystem not found",
            f"Spark cannot read s3a://: it lacks hadoop-aws-{hadoop_version()}.jar and bundle",
            "SET spark.driver.extraClassPath=",
        ),
        ('No FileSystem for scheme "gs"', "gcs-connector", "spark.hadoop.fs.gs.impl"),
        ("Class org.apache.hadoop.fs.azurebfs.SecureAzureBlobFileSystem not found", "hadoop-azure", "extraClassPath"),
        ('No FileSystem for scheme "foo"', "Spark has no file system for foo://", "spark.hadoop.fs.foo.impl"),
    ],
)
def test_the_error_names_the_jars_and_the_setting(tmp_path: Path, text: str, message: str, hint: str) -> None:
    error = failures.translate(RuntimeError(text), tmp_path / "spark.log")
    assert message in error.message
    assert hint in (error.hint or "")


def test_other_errors_of_a_file_system_stay(tmp_path: Path) -> None:
    text = "S3AFileSystem: Status Code: 403; software.amazon.awssdk.services.s3.model.S3Exception"
    assert "lacks" not in failures.translate(RuntimeError(text), tmp_path / "spark.log").message
