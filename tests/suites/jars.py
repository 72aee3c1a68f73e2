"""The jars with suites of others, which `jars.json` pins: Ivy downloads them, and they are read where they are cached."""

from __future__ import annotations

import json
from pathlib import Path
from zipfile import ZipFile

from hivedruid.local import artifacts
from hivedruid.local.artifacts import Artifact

LOCK = Path(__file__).with_suffix(".json")


def open_jar(name: str) -> ZipFile:
    artifact = Artifact(**json.loads(LOCK.read_text(encoding="utf-8"))[name])
    (path,) = artifacts.resolve([artifact])
    return ZipFile(path)
