"""Default settings of a home folder, in its `defaults.json`: `hivedruid local up` sets druid.url there."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from hivedruid.errors import ExecutionError, UsageError
from hivedruid.private import private_folder

FILE = "defaults.json"


def default_home() -> Path:
    """The home folder if none is named: HIVEDRUID_HOME, or `~/.hivedruid`."""
    return Path(os.environ.get("HIVEDRUID_HOME") or Path.home() / ".hivedruid")


def cache_folder() -> Path:
    """The folder of downloads, and of what can be made again: `hivedruid` in the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "hivedruid"


def read(home: Path) -> dict[str, str]:
    """The defaults of a home; empty if the file does not exist. Raises UsageError if it is not a JSON object."""
    path = home / FILE
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except NotADirectoryError as error:
        raise UsageError(f"{home} is not a folder", hint="choose another home folder with --home") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    try:
        values = json.loads(text)
    except ValueError as error:
        raise UsageError(f"{path} is not valid JSON: {error}", hint=f"fix or delete the file, or {_again()}") from error
    if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
        raise UsageError(f"{path} is not a JSON object of strings", hint=f"fix or delete the file, or {_again()}")
    return values


def write(home: Path, changes: Mapping[str, str | None]) -> None:
    """Change defaults of a home; None removes one. The write is atomic; the file mode is 0600."""
    try:
        values: Mapping[str, str | None] = read(home)
    except UsageError:
        values = {}  # replace an invalid file
    kept = {key: value for key, value in sorted({**values, **changes}.items()) if value is not None}
    path = home / FILE
    unfinished = home / f"{FILE}.{os.getpid()}"
    try:
        if not kept:
            path.unlink(missing_ok=True)
            return
        private_folder(home)
        unfinished.touch(mode=0o600)
        unfinished.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        raise ExecutionError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        if home.is_dir():
            unfinished.unlink(missing_ok=True)


def _again() -> str:
    return "run `hivedruid local up` to recreate it"
