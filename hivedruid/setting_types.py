"""The types of settings: which values each accepts, and what the values mean."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from hivedruid.errors import SemanticError, did_you_mean
from hivedruid.lazy_dataclass import dataclass
from hivedruid.lazy_regex import regex
from hivedruid.secrets import is_secret, is_shown, masked

SettingType = Literal[
    "bool",
    "int",
    "text",
    "enum",
    "zone",
    "clock",
    "context",
    "tags",
    "prefix",
    "druid",
    "url",
    "reference",
    "period",
    "span",
    "property",
    "metastore",
    "postgres",
]

EMBEDDED = "embedded:"
"""The druid.url of the embedded store."""

_NUMBER = r"\d{1,10}"
PERIOD = regex(
    rf"P(?=[\dT])({_NUMBER}Y)?({_NUMBER}M)?({_NUMBER}W)?({_NUMBER}D)?"
    rf"(T(?=\d)({_NUMBER}H)?({_NUMBER}M)?({_NUMBER}([.,]\d{{1,3}})?S)?)?",
    re.ASCII,
)
"""An ISO 8601 period as Joda reads it, whose numbers are integers of 32 bits: at most ten digits."""


@dataclass(frozen=True)
class Setting:
    """One key; `values` are those of an enum, in upper case. The check of a type is in `CHECKS`."""

    key: str
    type: SettingType
    default: str
    doc: str
    values: tuple[str, ...] = ()


def written_values(type_: str, values: Iterable[str], default: str) -> tuple[str, ...]:
    """The values to offer for a setting or property, in the case of its default: those of a bool or an enum, and the
    names that a Druid may have besides URLs."""
    if type_ == "bool":
        return ("true", "false")
    if type_ == "druid":
        return (EMBEDDED, "local")
    lower = default != default.upper()
    return tuple(value.lower() if lower else value for value in values)


def other_machines(settings: Mapping[str, str]) -> str:
    """The setting that has Spark run on other machines, as `key=value`; "" if it runs on this one."""
    if settings.get("spark.remote"):
        return "spark.remote"
    master = settings.get("spark.master", "local[*]")
    return "" if master.startswith("local") else f"spark.master={master}"


def seconds(period: str) -> float:
    """The length of an ISO 8601 period that `check` has accepted; a month counts as 30 days, a year as 365."""
    match = PERIOD.fullmatch(period)
    assert match is not None
    parts = [float((match[number] or "0_")[:-1].replace(",", ".")) for number in (1, 2, 3, 4, 6, 7, 8)]
    days = parts[0] * 365 + parts[1] * 30 + parts[2] * 7 + parts[3]
    return days * 86_400 + parts[4] * 3600 + parts[5] * 60 + parts[6]


_SPAN = regex(r"\s*(-?\d{1,18})\s*([a-z]*)\s*", re.ASCII)
_SPAN_UNITS = {
    **dict.fromkeys(("", "s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("d", "day", "days"), 86_400.0),
    **dict.fromkeys(("h", "hour", "hours"), 3600.0),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("ms", "msec", "msecs", "millisecond", "milliseconds"), 0.001),
}


def is_span(text: str) -> bool:
    """Whether a text is a HiveConf duration: an integer and a unit, such as 10min, 2h or -1s; seconds without one."""
    match = _SPAN.fullmatch(text.lower())
    return match is not None and match[2] in _SPAN_UNITS


def span_seconds(text: str) -> float:
    """The seconds of a text for which `is_span` is true."""
    match = _SPAN.fullmatch(text.lower())
    assert match is not None
    return int(match[1]) * _SPAN_UNITS[match[2]]


def resolve_zone(name: str) -> str:
    """The IANA name for a value of hive.local.time.zone. LOCAL: from TZ or /etc, otherwise UTC."""
    if name.upper() != "LOCAL":
        return _SPELLINGS_OF_UTC.get(name, name)
    candidate = os.environ.get("TZ", "").removeprefix(":")
    if not candidate:
        target = os.path.realpath("/etc/localtime")
        _, separator, candidate = target.partition("/zoneinfo/")
        candidate = candidate.removeprefix("posix/").removeprefix("right/") if separator else ""
    candidate = _SPELLINGS_OF_UTC.get(candidate, candidate)
    return candidate if candidate and _is_zone(candidate) else "UTC"


_SPELLINGS_OF_UTC = dict.fromkeys(
    ("Etc/UTC", "Etc/UCT", "Etc/Universal", "Etc/Zulu", "UCT", "Universal", "Zulu"), "UTC"
)
"""Zone names that Java would print but that should not be shown."""


_OFFSET = regex(r"[+-](0\d|1[0-7]):[0-5]\d|[+-]18:00")
"""A zone with a fixed offset from UTC, in the syntax of java.time.ZoneId."""


def _is_zone(name: str) -> bool:
    if name == "UTC" or _OFFSET.fullmatch(name):
        return True
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(name)
    except (ValueError, OSError, LookupError):  # not a name at all, a folder, or not in the database
        return False
    return True


def _bool(setting: Setting, value: str) -> str:
    if value.lower() not in ("true", "false"):
        raise SemanticError(f"'{setting.key}' must be true or false, not '{value}'")
    return value.lower()


def _int(setting: Setting, value: str) -> str:
    if not re.fullmatch(r"-?\d{1,18}", value, re.ASCII):
        raise SemanticError(f"'{setting.key}' must be an integer, not '{value}'")
    return value


def _text(_: Setting, value: str) -> str:
    return value


def _period(setting: Setting, value: str) -> str:
    if not PERIOD.fullmatch(value):
        raise SemanticError(f"'{setting.key}' must be an ISO 8601 period such as PT10M, not '{value}'")
    return value


def _span(setting: Setting, value: str) -> str:
    if not is_span(value):
        raise SemanticError(f"'{setting.key}' must be a duration such as 10min, 2h or 1d, not '{value}'")
    return value


def _enum(setting: Setting, value: str) -> str:
    if value.upper() not in setting.values:
        raise SemanticError(
            f"'{setting.key}' must be one of {', '.join(setting.values)}, not '{value}'",
            hint=did_you_mean(value.upper(), setting.values),
        )
    return value.lower() if setting.default.islower() else value.upper()


def _zone(setting: Setting, value: str) -> str:
    if value.upper() == "LOCAL":
        return "LOCAL"
    if not _is_zone(value):
        from zoneinfo import available_timezones

        hint = did_you_mean(value, available_timezones()) or "use an IANA name such as US/Pacific, or LOCAL"
        raise SemanticError(f"'{setting.key}' must be a time zone, not '{value}'", hint=hint)
    return value


def _clock(setting: Setting, value: str) -> str:
    from datetime import datetime

    if not value:
        return value
    try:
        moment = datetime.strptime(value, "%Y-%m-%d %H:%M:%S.%f" if "." in value else "%Y-%m-%d %H:%M:%S")
    except ValueError:
        raise SemanticError(
            f"'{setting.key}' must be a timestamp, not '{value}'",
            hint="use yyyy-MM-dd HH:mm:ss[.fff], or leave it empty",
        ) from None
    return moment.isoformat(" ")


_URL = r"https?://[^\s/]+\S*"


def _druid(setting: Setting, value: str) -> str:
    if value in (EMBEDDED, "local") or re.fullmatch(_URL, value):
        return value.rstrip("/")
    raise SemanticError(
        f"'{setting.key}' must be embedded:, local, or the http(s) URL of a Druid router or broker, not "
        f"'{masked(setting.key, value)}'",
        hint="for example http://localhost:8888",
    )


def _url(setting: Setting, value: str) -> str:
    if not value or re.fullmatch(_URL, value):
        return value.rstrip("/")
    raise SemanticError(f"'{setting.key}' must be an http(s) URL, not '{masked(setting.key, value)}'")


def _reference(setting: Setting, value: str) -> str:
    """Secrets must be references, since settings are shown, logged and stored."""
    if not value or re.fullmatch(r"env:\w+|file:.+", value):
        return value
    raise SemanticError(
        f"'{setting.key}' must be env:NAME or file:PATH, not the secret itself",
        hint="store it in an environment variable or in a file that only you can read; see docs/security.md",
    )


def _property(setting: Setting, value: str) -> str:
    """A property that is passed through. One that is a secret, by its name or its value, must be a reference."""
    if is_secret(setting.key) and not is_shown(value):
        return _reference(setting, value)
    if masked(setting.key, value) != value:
        hint = "give it as a property of its own: env:NAME or file:PATH; see docs/security.md"
        raise SemanticError(f"'{setting.key}' must not contain a password", hint=hint)
    return value


_CONTEXT_KEYS = frozenset(
    """
    brokerParallelMerge bufferGrouperInitialBuckets bufferGrouperMaxLoadFactor bufferGrouperMaxSize forceLimitPushDown
    lane maxMergingDictionarySize maxNumericInFilters maxOnDiskStorage maxQueuedBytes maxRowsQueuedForOrdering
    maxScatterGatherBytes maxSegmentPartitionsOrderedInMemory maxSelectorDictionarySize maxSubqueryBytes maxSubqueryRows
    numParallelCombineThreads parallelMergeParallelism populateCache populateResultLevelCache priority
    secondaryPartitionPruning setProcessingThreadNames useCache useResultLevelCache vectorSize
    vectorize vectorizeVirtualColumns
    """.split()  # noqa: SIM905
)
"""Keys of Druid's query context that affect execution but not results."""


def _context(setting: Setting, value: str) -> str:
    import json

    if not value:
        return value
    try:
        keys = json.loads(value)
    except ValueError:
        keys = None
    if not isinstance(keys, dict):
        raise SemanticError(
            f"'{setting.key}' must be a JSON object, not '{value}'", hint='for example {"priority": 10}'
        )
    for key in keys:
        if key not in _CONTEXT_KEYS:
            hint = (
                did_you_mean(key, _CONTEXT_KEYS)
                or "only keys that do not affect results are allowed; see docs/druid.md"
            )
            raise SemanticError(f"'{setting.key}' does not allow the key '{key}'", hint=hint)
    return json.dumps(keys)


def _tags(setting: Setting, value: str) -> str:
    parts = [part.strip() for part in value.split(",")] if value else []
    for part in parts:
        if not re.fullmatch(r"[\w.-]+\s*=[^=]*", part):
            raise SemanticError(
                f"'{setting.key}' must be key=value, …, not '{value}'", hint="for example team=web,job=daily"
            )
    return ",".join("=".join(side.strip() for side in part.split("=")) for part in parts)


def _prefix(setting: Setting, value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", value):
        raise SemanticError(f"'{setting.key}' must be at most 64 letters, digits, '.', '_' and '-', not '{value}'")
    return value


_METASTORE = regex(r"thrift://(\[[^\]]+\]|[^:/\s,@]+)(?::(\d{1,5}))?/?")
_METASTORE_PORT = 9083


def metastore_addresses(uris: str) -> list[tuple[str, int]] | None:
    """The hosts and ports of thrift://host:port, …; None if it is something else."""
    matches = [_METASTORE.fullmatch(uri.strip()) for uri in uris.split(",")]
    found = [(each[1].strip("[]"), int(each[2] or _METASTORE_PORT)) for each in matches if each is not None]
    return found if len(found) == len(matches) else None


def _metastore(setting: Setting, value: str) -> str:
    if value and metastore_addresses(value) is None:
        raise SemanticError(
            f"'{setting.key}' must be thrift://host:port, …, not '{masked(setting.key, value)}'",
            hint="for example thrift://localhost:9083",
        )
    return value


def _postgres(setting: Setting, value: str) -> str:
    if value:
        from hivedruid.postgres_url import PasswordError, UrlError, parse

        try:
            parse(value)
        except UrlError as error:
            hint = "for example postgresql://hivedruid@db.example.com:5432/hivedruid"
            if isinstance(error, PasswordError):
                hint = "remove it, and set hivedruid.catalog.password to env:NAME or file:PATH; see docs/security.md"
            raise SemanticError(f"invalid '{setting.key}': {error}", hint=hint) from None
    return value


CHECKS: dict[SettingType, Callable[[Setting, str], str]] = {
    "bool": _bool,
    "int": _int,
    "text": _text,
    "enum": _enum,
    "zone": _zone,
    "clock": _clock,
    "context": _context,
    "tags": _tags,
    "prefix": _prefix,
    "druid": _druid,
    "url": _url,
    "reference": _reference,
    "period": _period,
    "span": _span,
    "property": _property,
    "metastore": _metastore,
    "postgres": _postgres,
}
