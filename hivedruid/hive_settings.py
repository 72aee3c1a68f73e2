"""Settings of Hive that are not hivedruid's: those that set another one, and those without effect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from hivedruid.errors import did_you_mean
from hivedruid.settings import ELSEWHERE, FAMILIES, SETTINGS, WITHOUT_EFFECT

ADDRESSES = {
    "hive.druid.broker.address.default": "druid.url",
    "hive.druid.coordinator.address.default": "druid.coordinator.url",
    "hive.druid.overlord.address.default": "druid.overlord.url",
}
"""Settings of Hive's Druid handler, `host:port`, and those that they set."""
_OF_HADOOP = ("mapred.", "mapreduce.", "tez.", "yarn.", "hadoop.", "dfs.", "fs.", "io.", "ipc.", "llap.", "javax.",
              "datanucleus.", "metastore.", "orc.", "parquet.", "avro.")  # fmt: skip
"""Prefixes of the settings of Hadoop, Tez and the libraries that Hive uses."""


def mapped(key: str, value: str) -> tuple[str, str] | None:
    """The setting that a setting of Hive sets, and its value."""
    if key not in ADDRESSES or not value.strip():
        return None
    return ADDRESSES[key], value.strip() if "://" in value else f"http://{value.strip()}"


def with_mapped(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings of a command line, with those that they set; one that is given itself counts."""
    found = (mapped(key, value) for key, value in settings.items())
    return {**dict(each for each in found if each is not None), **settings}


def note_of(key: str, value: str) -> str | None:
    """The note that SET of a key prints, once in a session; None if the key has its documented effect.

    A key without a dot that is not similar to a setting is a variable of the script, `${hiveconf:key}`.
    """
    setting = SETTINGS.get(key)
    if (target := mapped(key, value)) is not None:
        return f"{key} sets {target[0]}"
    if key in ELSEWHERE:
        return f"{key} has no effect: {ELSEWHERE[key]}"
    if setting is not None and setting.doc.startswith(WITHOUT_EFFECT):
        return f"{key} has no effect: {setting.doc.removeprefix(WITHOUT_EFFECT).rstrip('.')}"
    if setting is not None or key.startswith(("hivevar:", "spark.", *FAMILIES)):
        return None
    if key.startswith(_OF_HADOOP) or key in hive_names():
        return f"{key} has no effect: this setting of Hive or Hadoop is not used"
    if key.startswith("hive."):
        close = did_you_mean(key, [name for name in (*SETTINGS, *hive_names()) if name.startswith("hive.")])
        return f"'{key}' is an unknown setting and has no effect" + (f"; {close}" if close else "")
    return f"'{key}' is an unknown setting; it can only be used as ${{hiveconf:{key}}}" if "." in key else None


def noted_once(note: Callable[[str], None]) -> Callable[[str, str], None]:
    """A function that notes of a key and its value what `note_of` says, once for each key."""
    noted: set[str] = set()

    def note_setting(key: str, value: str) -> None:
        if key not in noted and (text := note_of(key, value)) is not None:
            noted.add(key)
            note(text)

    return note_setting


@lru_cache(maxsize=1)
def hive_names() -> frozenset[str]:
    """The names of the settings of Hive 4.0.1 (HiveConf.ConfVars, MetastoreConf.ConfVars)."""
    from importlib.resources import files

    return frozenset(files("hivedruid").joinpath("hive_setting_names.txt").read_text(encoding="utf-8").split())
