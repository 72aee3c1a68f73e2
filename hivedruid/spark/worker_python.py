"""What Spark's workers lack for work in Python, from the text of an error."""

from __future__ import annotations

import re
import sys

WORKER = re.compile(r"Lost task \S+ in stage \S+ \(TID \d+\) \((\S+) executor \w+\)")
"""The host of the worker whose task failed."""
UNSUITABLE = "hivedruid: the Python of the worker "
"""The beginning of the message of a worker whose packages are too old (segment_source.py)."""
_NO_PYTHON = re.compile(r'Cannot run program "([^"]+)"[^\n]*: error=(?:2|13), ([^\n]+)')
_OTHER_PYTHON = re.compile(
    r"\[PYTHON_VERSION_MISMATCH\] Python in worker has different version: (\S+) than that in driver: (\S+),"
)
_NO_MODULE = re.compile(
    r"ModuleNotFoundError: No module named '(numpy|pyarrow|pandas|pyspark|datasketches)\b"
    r"|\[(?:PACKAGE_NOT_INSTALLED|UNSUPPORTED_PACKAGE_VERSION)\] (\w+ >= \S+) must be installed"
)
_UNSEEN = re.compile(r"hivedruid: the folder of the job does not exist on ([^\s:]+): ([^\n]+)")
"""The message of a worker that does not see the folder (segment_tasks.py)."""
_TOO_OLD = re.compile(rf"{UNSUITABLE}([^\n]+)")


def problem(text: str) -> tuple[str, str] | None:
    """The message and the hint for an error of Spark, if it shows that a worker's Python cannot run tasks."""
    worker = WORKER.search(text)
    where = f"worker {worker[1]}" if worker else "a worker"
    wanted = f"SET spark.pyspark.python to the path of a Python {_minor()} on the workers"
    if found := _NO_PYTHON.search(text):
        return f"{where} cannot run {found[1]}: {found[2]}", wanted
    if found := _OTHER_PYTHON.search(text):
        return f"{where} runs Python {found[1]}, and hivedruid runs {found[2]}: they must be the same", wanted
    packages = f"install the packages there, or {wanted} with numpy and pyarrow"
    if found := _NO_MODULE.search(text):
        return f"the Python of {where} lacks the package {found[1] or found[2]}", packages
    if found := _TOO_OLD.search(text):
        return f"the Python of {where} {found[1].strip()}", packages
    return None


def unseen(text: str) -> tuple[str, str] | None:
    """The same if a worker does not see the folder into which it writes segments."""
    if found := _UNSEEN.search(text):
        mount = "mount the deep storage on all machines of Spark, at the same path, or SET hivedruid.druid.write=native"
        return f"worker {found[1]} does not see the job's folder in Druid's deep storage: {found[2].strip()}", mount
    return None


def _minor() -> str:
    return ".".join(map(str, sys.version_info[:2]))
