"""Find the Java for Spark, Ivy and a local cluster, and check its version before it is used."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from hivedruid.errors import ConnectError

OLDEST_VERSION = 17
"""Spark 4 runs on Java 17 and later."""


@cache
def java_command() -> Path:
    """The `java` to use: JAVA_HOME's if that is set, otherwise the first on PATH.

    Raises ConnectError if there is none, or if it is older than OLDEST_VERSION.
    """
    java = _find()
    version = java_version(java)
    if version < OLDEST_VERSION:
        raise ConnectError(
            f"Java {OLDEST_VERSION} or later is required, but {java} is Java {version}",
            hint="install a Java 17 runtime and set JAVA_HOME to its folder",
        )
    return java


def _find() -> Path:
    hint = "install a Java 17 runtime (OpenJDK 17), or set JAVA_HOME to its folder"
    home = os.environ.get("JAVA_HOME")
    if home:
        java = Path(home, "bin", "java")
        if not os.access(java, os.X_OK):
            raise ConnectError(f"JAVA_HOME is {home}, but it contains no bin/java", hint=hint)
        return java
    path = shutil.which("java")
    if path is None:
        raise ConnectError(f"Java {OLDEST_VERSION} is required, but `java` is not on PATH", hint=hint)
    return Path(path)


def java_version(java: Path) -> int:
    """The feature version (17 of `17.0.15`, 8 of `1.8.0_402`) that `java -version` prints."""
    text = version_text(java)
    match = re.search(r'version "(?:1\.)?(\d+)', text)
    if match is None:
        words = text.strip().splitlines() or ["no output"]
        raise ConnectError(f"{java} does not work: {words[0]}", hint="install a Java 17 runtime and set JAVA_HOME")
    return int(match[1])


@cache
def version_text(java: Path) -> str:
    """What `java -version` prints: the version and build of Java and of its JVM."""
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ConnectError(f"cannot run {java}: {error}", hint="install a Java 17 runtime") from error
    return answer.stderr + answer.stdout


def main() -> int:
    """Check the Java of this machine, and print problems to stderr."""
    try:
        java_command()
    except ConnectError as error:
        sys.stderr.write(f"error: {error.message}\nhint: {error.hint}\n")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
