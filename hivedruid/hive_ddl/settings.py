"""Converts SET statements of Hive scripts."""

from __future__ import annotations

from hivedruid.errors import HiveDruidError, did_you_mean
from hivedruid.hive_ddl.findings import Finding
from hivedruid.hive_settings import mapped
from hivedruid.parser.statements.utility import SetSetting
from hivedruid.secrets import is_secret
from hivedruid.settings import OWN_PREFIXES, SETTINGS, WITHOUT_EFFECT, check


def revise_set(statement: SetSetting) -> tuple[str | None, list[Finding]]:
    """The converted statement: None if it is unchanged, empty if it has no effect."""
    key, value = statement.key, statement.value
    if key is None or value is None:
        return None, []
    setting = SETTINGS.get(key)
    if (target := mapped(key, value)) is not None:
        name, url = target
        try:
            check(name, url)
        except HiveDruidError:
            return "", [Finding("dropped", f"{key} (its value is not a valid address; use {name})")]
        return f"SET {name}={url}", [Finding("changed", f"{key} is now {name}, which is a URL")]
    if setting is not None and setting.doc.startswith(WITHOUT_EFFECT):
        return "", [Finding("dropped", f"{key} ({setting.doc.removeprefix(WITHOUT_EFFECT).rstrip('.')})")]
    if is_secret(key) and (setting is None or setting.type != "reference"):
        return "", [Finding("dropped", f"{key} (no effect, and its value is a secret)")]
    if setting is None and key.startswith((*OWN_PREFIXES, "hive.druid.")):
        close = did_you_mean(key, SETTINGS)
        return "", [Finding("dropped", f"{key} (unknown setting{f'; {close}' if close else ''})")]
    return None, []
