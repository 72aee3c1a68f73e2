"""Compare the spec that would be submitted for a table with the running one, which contains Druid's defaults."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import accumulate
from typing import Any

from hivedruid.catalog.ingestions import LastSpec
from hivedruid.catalog.properties import INGESTION_PREFIX, PROPERTIES, SPEC_PREFIX
from hivedruid.druid.ingestion import CONCURRENT_LOCKS
from hivedruid.druid.supervisor import ALWAYS_GIVEN, DYNAMIC_PROVIDER, typed
from hivedruid.ingestion.normal_specs import derived_exclusions, normal, without_exclusions
from hivedruid.ingestion.supervisor import OWNER_KEYS
from hivedruid.lazy_dataclass import dataclass
from hivedruid.redaction import redact_spec
from hivedruid.secrets import MASK, hides
from hivedruid.setting_types import PERIOD, seconds

ABSENT = object()


@dataclass(frozen=True)
class Difference:
    """One value that differs; `path` is below `spec`, or in the `context`; `wanted` or `running` is None if absent."""

    path: str
    wanted: Any
    running: Any

    @property
    def texts(self) -> tuple[str, str]:
        """The running and the wanted value for display, with secrets masked by their path."""
        return _shown(self.path, self.running), _shown(self.path, self.wanted)


_DEFAULTS: dict[str, Any] = {
    **{
        f"{item.section}.{name}": typed(item.key, item.default)
        for item in PROPERTIES.values()
        if item.section in ("ioConfig", "tuningConfig") and item.default is not None
        and (name := item.key.removeprefix(INGESTION_PREFIX)) not in ALWAYS_GIVEN
    },
    # values without a property of their own
    "ioConfig.consumerProperties.druid.dynamic.config.provider.type": "environment",
    "tuningConfig.type": "kafka", "tuningConfig.repartitionTransitionDuration": "PT120S",
    "tuningConfig.appendableIndexSpec": {"type": "onheap", "preserveExistingMetrics": False},
    "tuningConfig.indexSpec.bitmap": {"type": "roaring"}, "tuningConfig.indexSpec.dimensionCompression": "lz4",
    "tuningConfig.indexSpec.stringDictionaryEncoding": {"type": "utf8"},
    "tuningConfig.indexSpec.metricCompression": "lz4", "tuningConfig.indexSpec.longEncoding": "longs",
    "dataSchema.timestampSpec.column": "timestamp", "dataSchema.timestampSpec.format": "auto",
    "dataSchema.granularitySpec.type": "uniform", "dataSchema.granularitySpec.rollup": True,
    "dataSchema.granularitySpec.segmentGranularity": "DAY", "dataSchema.granularitySpec.queryGranularity": "NONE",
    "dataSchema.dimensionsSpec.forceSegmentSortByTime": True,
}  # fmt: skip
_DEFAULTS |= {
    path.replace(".indexSpec.", ".indexSpecForIntermediatePersists."): value
    for path, value in _DEFAULTS.items() if ".indexSpec." in path
}  # fmt: skip
_ELEMENT_DEFAULTS: dict[str, Any] = {
    "multiValueHandling": "SORTED_ARRAY", "useFieldDiscovery": True, "shouldFinalize": True,
    "size": 16384, "lgK": 12, "tgtHllType": "HLL_4", "k": 128, "maxStreamLength": 1000000000,
    "stringEncoding": "utf16le", "keepNullColumns": False,
}  # fmt: skip
"""The defaults of Druid 33 by path; within lists and input formats by the last name."""
DERIVED = frozenset(
    {"ioConfig.stream", "ioConfig.useEarliestSequenceNumber", "tuningConfig.skipSequenceNumberAvailabilityCheck"}
)
"""Keys that Druid derives from others."""


def _shown(path: str, value: Any) -> str:
    if value is None:
        return "nothing"
    if f".{DYNAMIC_PROVIDER}." in path and ".variables" not in path:
        return MASK  # only Druid knows the values of other provider types
    consumer = path.partition(".consumerProperties.")[2]
    name = consumer or path
    text = json.dumps(redact_spec({name: value})[name], ensure_ascii=False)
    holders = () if consumer else accumulate(re.split(r"[.\[]", path), "{}.{}".format)
    return json.dumps(MASK) if any(hides(SPEC_PREFIX + holder, text) for holder in holders) else text


def differences(wanted: Mapping[str, Any], running: Mapping[str, Any]) -> tuple[Difference, ...]:
    """Where a running supervisor's spec differs in meaning from the one that would be submitted, apart from its
    owner."""
    return tuple(_compare("", *comparable(wanted, running)))


def comparable(wanted: Mapping[str, Any], running: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parts below `spec` of both, in the form in which equal values have an equal meaning."""
    ours, theirs = normal(wanted.get("spec") or {}), normal(_inner(running))
    if (ours.get("ioConfig") or {}).get("autoScalerConfig") and (theirs.get("ioConfig") or {}).get("autoScalerConfig"):
        for spec in (ours, theirs):
            spec["ioConfig"] = {**spec["ioConfig"], "taskCount": None}  # the auto scaler's own
    follows = _intermediate(ours), _intermediate(theirs)
    if follows == (True, True):
        for spec in (ours, theirs):
            spec["tuningConfig"] = {**spec["tuningConfig"], INTERMEDIATE: None}
    known = derived_exclusions(ours, theirs)
    for spec in (ours, theirs):
        without_exclusions(spec, known)
    return ours, theirs


def is_same(path: str, wanted: Any, running: Any) -> bool:
    """Whether two values at a path have the same meaning."""
    return not any(_compare(path, wanted, running))


INTERMEDIATE = "indexSpecForIntermediatePersists"


def _intermediate(spec: dict[str, Any]) -> bool:
    """Make the indexSpec of intermediate persists explicit; whether it is the indexSpec, which is its default."""
    tuning = spec.get("tuningConfig") or {}
    spec["tuningConfig"] = {**tuning, INTERMEDIATE: tuning.get(INTERMEDIATE) or tuning.get("indexSpec")}
    path = "tuningConfig.indexSpec"
    return is_same(path, tuning.get("indexSpec"), spec["tuningConfig"][INTERMEDIATE])


def as_accepted(running: Mapping[str, Any]) -> dict[str, Any]:
    """The spec as Druid accepted it, to compare it with the running one later: without owner and secrets."""
    spec: dict[str, Any] = json.loads(json.dumps(_inner(running)))
    if (spec.get("ioConfig") or {}).get("autoScalerConfig"):
        spec["ioConfig"].pop("taskCount", None)  # the auto scaler's own
    result: dict[str, Any] = redact_spec(spec)
    return result


def changes(wanted: Mapping[str, Any], running: Mapping[str, Any], last: LastSpec | None) -> tuple[Difference, ...]:
    """As `differences`. If Druid still runs the `last` submitted spec as it accepted it, the submitted form is compared
    instead, because Druid adds defaults that are not known here. Of the context the owner is not compared.
    """
    locks = _context(wanted, running)
    if last is not None and last.accepted and as_accepted(running) == last.accepted:
        return (
            *(
                replace(item, running=_at(_inner(running), item.path)) if item.running is None else item
                for item in differences(wanted, last.spec)
            ),
            *locks,
        )
    return *differences(wanted, running), *locks


def _context(wanted: Mapping[str, Any], running: Mapping[str, Any]) -> tuple[Difference, ...]:
    ours = {CONCURRENT_LOCKS: True, **(wanted.get("context") or {})}
    theirs = running.get("context") or {}
    return tuple(
        item
        for key in [*ours, *(key for key in theirs if key not in ours)]
        if key not in OWNER_KEYS
        for item in _compare(f"context.{key}", ours.get(key), theirs.get(key))
    )


def _at(spec: Any, path: str) -> Any:
    """The value at a path; None if there is none, or if a key contains dots."""
    for key in path.split("."):
        spec = spec.get(key) if isinstance(spec, Mapping) else None
    return spec


def _inner(running: Mapping[str, Any]) -> Mapping[str, Any]:
    """Supervisors of older Druid clients, Hive among them, have the parts at the top level."""
    inner = running.get("spec")
    return (
        inner
        if isinstance(inner, dict)
        else {name: running.get(name) or {} for name in ("dataSchema", "ioConfig", "tuningConfig")}
    )


def _compare(path: str, wanted: Any, running: Any) -> Iterator[Difference]:
    """A key whose value is null has no value: Druid 37 writes defaults so, or leaves them out."""
    wanted, running = (ABSENT if value is None else value for value in (wanted, running))
    if isinstance(wanted, Mapping) and isinstance(running, Mapping):
        for key in [*wanted, *(key for key in running if key not in wanted)]:
            inner = f"{path}.{key}" if path else str(key)
            if inner not in DERIVED:
                yield from _compare(inner, wanted.get(key, ABSENT), running.get(key, ABSENT))
    elif isinstance(wanted, list) and isinstance(running, list) and len(wanted) == len(running):
        for item, other in zip(wanted, running, strict=True):
            name = item.get("name") if isinstance(item, Mapping) else None
            yield from _compare(f"{path}[{name or item}]", item, other)
    elif (wanted is ABSENT and _is_default(path, running)) or (running is ABSENT and _is_default(path, wanted)):
        return
    elif _plain(wanted) != _plain(running):
        yield Difference(path, None if wanted is ABSENT else wanted, None if running is ABSENT else running)


def _is_default(path: str, value: Any) -> bool:
    if path.startswith("context."):
        return value is None or (path == f"context.{CONCURRENT_LOCKS}" and value is False)
    if path in _DEFAULTS:
        default = _DEFAULTS[path]
        return value is None or _plain(value) == _plain(default)
    last = path.rpartition(".")[2]
    in_element = "]" in path or ".inputFormat" in path
    if in_element and last in _ELEMENT_DEFAULTS:
        return value is None or _plain(value) == _plain(_ELEMENT_DEFAULTS[last])
    return not value or (
        isinstance(value, Mapping) and all(_is_default(f"{path}.{key}", v) for key, v in value.items())
    )


def _plain(value: Any) -> Any:
    """Druid writes PT1H as PT3600S, DAY in either case, and NONE as an object."""
    if isinstance(value, str):
        if PERIOD.fullmatch(value):
            return seconds(value)
        return value
    if isinstance(value, Mapping):
        if value.keys() == {"type"} and value["type"] in ("none", "all"):
            return str(value["type"]).upper()
        return {key: _plain(item) for key, item in value.items() if item is not None}
    return [_plain(item) for item in value] if isinstance(value, list) else value
