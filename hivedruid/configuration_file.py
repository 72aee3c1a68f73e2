"""hivedruid.toml: `[settings]` and `[clusters.NAME]`, checked, with the line of each key."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from hivedruid.errors import SemanticError, Span, UsageError, did_you_mean
from hivedruid.lazy_dataclass import dataclass
from hivedruid.settings import SETTINGS, check, find

_TABLES = ("settings", "clusters")
_DRUID = "druid"
"""The short form of druid.url in a cluster, as the option --druid."""
_MOST_BYTES = 1_000_000


@dataclass(frozen=True)
class Entry:
    """The value of a setting, and the keys that lead to it in the file."""

    value: str
    keys: tuple[str, ...]


class ConfigurationFile:
    """A file that was read and checked. Use `read`."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self._text = text
        content = self._parsed()
        for name in content:
            if name not in _TABLES:
                hint = did_you_mean(name, _TABLES) or "put settings into [settings] or [clusters.NAME]"
                raise UsageError(f"unknown key '{name}'", span=self._span((name,)), hint=hint)
        self.settings = self._settings(content.get("settings", {}), ("settings",))
        clusters = content.get("clusters", {})
        self._check_table(clusters, ("clusters",))
        self.clusters = {name: self._settings(table, ("clusters", name)) for name, table in clusters.items()}

    @classmethod
    def read(cls, path: Path) -> ConfigurationFile | None:
        """The file at a path; None if there is none. Raises UsageError for one that cannot be read, an unknown key and
        an invalid value."""
        try:
            with path.open("rb") as file:
                content = file.read(_MOST_BYTES)
            text = content.decode("utf-8-sig").replace("\r\n", "\n")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except UnicodeDecodeError:
            raise UsageError(f"{path} is not UTF-8 text") from None
        except OSError as error:
            raise UsageError(
                f"cannot read {path}: {error.strerror}",
                hint=f"check the permissions of {path.parent} and what is in it",
            ) from None
        return cls(path, text)

    def place(self, entry: Entry) -> str:
        """The file and line of an entry."""
        return f"{self.path}:{self._lines.get(entry.keys, 1)}"

    def _parsed(self) -> dict[str, Any]:
        import tomllib

        try:
            return tomllib.loads(self._text)
        except tomllib.TOMLDecodeError as error:
            match = re.search(r" \(at line (\d+), column (\d+)\)$", str(error))
            line, column = (int(match[1]), int(match[2])) if match else (self._first_with(str(error)), 1)
            reason = str(error).partition(" (at ")[0]
            hint = None
            if reason == "Cannot overwrite a value":  # druid = "…" and druid.auth.username = "…" in one table
                hint = (
                    "a key is given twice, or is both a value and the start of another key: write druid.url, not druid"
                )
            text = f"invalid TOML: {reason[:1].lower()}{reason[1:]}"
            raise UsageError(text, span=self._at(line, column), hint=hint) from None

    def _first_with(self, message: str) -> int:
        """The first line with which the beginning of the file has this error."""
        import tomllib

        lines = self._text.split("\n")
        for count in range(1, len(lines) + 1):
            try:
                tomllib.loads("\n".join(lines[:count]))
            except tomllib.TOMLDecodeError as error:
                if str(error) == message:
                    return count
        return len(lines)

    def _check_table(self, value: Any, keys: tuple[str, ...]) -> None:
        if not isinstance(value, dict):
            name = ".".join(keys)
            raise UsageError(f"'{name}' must be a table", span=self._span(keys), hint=f"write [{name}]")

    def _settings(self, table: Any, keys: tuple[str, ...]) -> dict[str, Entry]:
        """The settings in a table, by key."""
        self._check_table(table, keys)
        found: dict[str, Entry] = {}
        for path, value in _leaves(table, keys):
            key = ".".join(path[len(keys) :])
            if key == _DRUID and keys[0] == "clusters":
                key = "druid.url"
            if key in found:
                raise UsageError(f"'{key}' is given twice", span=self._span(path), hint="remove one of them")
            found[key] = Entry(self._checked(key, value, path), path)
        return found

    def _checked(self, key: str, value: Any, path: tuple[str, ...]) -> str:
        """The value of a setting as SET takes it."""
        if find(key) is None and not key.startswith("spark."):
            raise UsageError(
                f"unknown setting '{key}'",
                span=self._span(path),
                hint=did_you_mean(key, SETTINGS) or "run hivedruid config to list all settings",
            )
        if isinstance(value, bool):
            value = str(value).lower()
        elif isinstance(value, int | float):
            value = str(value)
        elif not isinstance(value, str):
            raise UsageError(f"'{key}' must be a string, a number, or true or false", span=self._span(path))
        try:
            return check(key, value)
        except SemanticError as error:
            raise UsageError(error.message, span=self._span(path), hint=error.hint) from None

    # --- positions ---------------------------------------------------------------------------------------------

    @cached_property
    def _lines(self) -> dict[tuple[str, ...], int]:
        """The first line of each key. The parser does not return it: it is the line after the longest beginning of the
        file without the key."""
        import tomllib

        found: dict[tuple[str, ...], int] = {}
        lines = self._text.split("\n")
        parsed = 0
        for count in range(1, len(lines) + 1):
            try:
                content = tomllib.loads("\n".join(lines[:count]))
            except tomllib.TOMLDecodeError:  # in the middle of a value
                continue
            for path in _paths(content, ()):
                found.setdefault(path, parsed + 1)
            parsed = count
        return found

    def _span(self, keys: tuple[str, ...]) -> Span:
        line = self._lines.get(keys, 1)
        text = self._text.split("\n")[line - 1]
        name = keys[-1].rpartition(".")[2]
        return self._at(line, max(text.find(name), 0) + 1, len(name))

    def _at(self, line: int, column: int, length: int = 1) -> Span:
        from hivedruid.secret_text import mask_text

        text = self._text.split("\n")[line - 1]
        return Span(line, column, length, mask_text(text), str(self.path))


def _leaves(value: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The values in a table that are not tables, with their keys."""
    for key, item in value.items():
        if isinstance(item, dict):
            yield from _leaves(item, (*path, key))
        else:
            yield (*path, key), item


def _paths(value: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The keys of all values and tables."""
    for key, item in value.items():
        yield (*path, key)
        if isinstance(item, dict):
            yield from _paths(item, (*path, key))
