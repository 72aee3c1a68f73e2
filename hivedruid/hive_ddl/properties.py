"""A table of rules that convert the table properties of Hive's Druid and Kafka handlers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from hivedruid.catalog import properties as p
from hivedruid.catalog.kinds import KINDS, TableKind
from hivedruid.errors import HiveDruidError, did_you_mean
from hivedruid.hive_ddl.draft import Pair
from hivedruid.hive_ddl.findings import Finding, FindingKind
from hivedruid.secrets import ENVIRONMENT_PREFIX, is_secret, referenced
from hivedruid.setting_types import PERIOD, seconds
from hivedruid.settings import WITHOUT_EFFECT


class Outcome(NamedTuple):
    """The result of a rule for a property: a finding, and the new property; None if it is removed."""

    kind: FindingKind
    text: str
    pair: Pair | None


Rule = Callable[[Pair, "TableKind | None", Mapping[str, str]], "Outcome | None"]

BOOKKEEPING = frozenset(
    """
    COLUMN_STATS_ACCURATE DO_NOT_UPDATE_STATS TRANSLATED_TO_EXTERNAL bucketing_version last_modified_by
    last_modified_time
    numFiles numFilesErasureCoded numPartitions numRows rawDataSize storage_handler totalSize transient_lastDdlTime
    """.split()  # noqa: SIM905 - a list of words reads better as words
)
"""Hive's internal table properties, which SHOW CREATE TABLE prints."""

INTERNAL = frozenset(
    """
    druid.fieldNames druid.fieldTypes druid.job.workingDirectory druid.query.fetch druid.query.json druid.query.type
    druid.segment.version druid.storage.storageDirectory.intermediate
    """.split()  # noqa: SIM905
)
"""Properties that Hive's planner passes to its own tasks (DruidConstants)."""

RENAMED = {
    "druid.parseSpec.hasHeaderRow": "druid.parseSpec.hasHeaderRows",
    "druid.parseSpec.skipHeaderRow": "druid.parseSpec.skipHeaderRows",
    "druid.parseSpec.timestampSpec.column": "druid.timestamp.column",
    "druid.parseSpec.timestampSpec.format": "druid.timestamp.format",
    "druid.timestampSpec.column": "druid.timestamp.column",
    "druid.timestampSpec.format": "druid.timestamp.format",
}
"""Names used in Druid's parser spec, which Hive did not support."""

_FOLDED = {key.lower(): key for key in p.PROPERTIES if not key.endswith(".")}


def revised(
    pairs: list[Pair], kind: TableKind | None, before: Mapping[str, str] | None = None
) -> tuple[list[Pair], list[Finding]]:
    """The converted properties of a table of that kind, which already has the properties in `before`."""
    noted = [pair.key for pair in pairs if pair.key in BOOKKEEPING]
    last = {pair.key: pair for pair in pairs if pair.key not in BOOKKEEPING}
    findings = [
        Finding("dropped", f"'{key}' is specified more than once (the last value is used, as in Hive)")
        for key in last
        if sum(pair.key == key for pair in pairs) > 1
    ]
    if noted:
        findings.append(Finding("dropped", f"{', '.join(noted)} (Hive's own bookkeeping)"))
    given = {**(before or {}), **{key: pair.value for key, pair in last.items()}}
    result: list[Pair] = []
    for first in last.values():
        pair: Pair | None = first
        for rule in RULES:
            outcome = rule(pair, kind, given) if pair is not None else None
            if outcome is not None:
                findings.append(Finding(outcome.kind, outcome.text))
                pair = outcome.pair
        if pair is not None:
            result.append(pair)
    return result, findings


def _internal(pair: Pair, _kind: TableKind | None, _given: Mapping[str, str]) -> Outcome | None:
    if pair.key not in INTERNAL:
        return None
    why = "written by Hive's planner for its own tasks; queries are planned again"
    if pair.key == "druid.query.json" and _query_type(pair.value) == "select":
        why += "; Druid replaced `select` queries with scans"
    return Outcome("dropped", f"'{pair.key}' ({why})", None)


def _query_type(text: str) -> str:
    try:
        query = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    return str(query.get("queryType", "")) if isinstance(query, dict) else ""


def _misspelt(pair: Pair, _kind: TableKind | None, given: Mapping[str, str]) -> Outcome | None:
    if p.find(pair.key) is not None:
        return None
    name = RENAMED.get(pair.key) or _FOLDED.get(pair.key.lower())
    if name is None:
        return None
    if name in given:
        return Outcome("dropped", f"'{pair.key}' ('{name}' is also specified, and Hive only used that one)", None)
    text = f"'{pair.key}' is now '{name}': Hive ignored the former"
    return Outcome("changed", text, Pair(name, pair.value))


def _unknown(pair: Pair, _kind: TableKind | None, _given: Mapping[str, str]) -> Outcome | None:
    if p.find(pair.key) is not None or not pair.key.lower().startswith(p.CHECKED_PREFIXES):
        return None
    prefix = p.INGESTION_PREFIX if pair.key.startswith(p.INGESTION_PREFIX) else ""
    names = [key.removeprefix(prefix) for key in p.PROPERTIES if key.startswith(prefix)]
    close = did_you_mean(pair.key.removeprefix(prefix), names)
    return Outcome("dropped", f"'{pair.key}' (unknown, and ignored by Hive{f'; {close}' if close else ''})", None)


def _without_effect(pair: Pair, _kind: TableKind | None, _given: Mapping[str, str]) -> Outcome | None:
    known = p.find(pair.key)
    if known is None or not known.doc.startswith(WITHOUT_EFFECT):
        return None
    return Outcome("dropped", f"'{pair.key}' ({known.doc.removeprefix(WITHOUT_EFFECT).rstrip('.')})", None)


def _of_another_kind(pair: Pair, kind: TableKind | None, _given: Mapping[str, str]) -> Outcome | None:
    known = p.find(pair.key)
    if kind is None or known is None or kind in known.kinds or not pair.key.startswith(p.CHECKED_PREFIXES):
        return None
    replacement = ""
    if kind == "druid" and pair.key.startswith("kafka.consumer."):
        replacement = f"; '{p.CONSUMER_PREFIX}{pair.key.removeprefix('kafka.consumer.')}' applies"
    return Outcome(
        "dropped", f"'{pair.key}' (does not apply to {KINDS[kind].noun}, and was ignored by Hive{replacement})", None
    )


def _brokers_again(pair: Pair, _kind: TableKind | None, given: Mapping[str, str]) -> Outcome | None:
    if pair.key != p.CONSUMER_PREFIX + "bootstrap.servers" or "kafka.bootstrap.servers" not in given:
        return None
    return Outcome("dropped", f"'{pair.key}' (kafka.bootstrap.servers is used; Hive failed if both were set)", None)


def _boolean(pair: Pair, _kind: TableKind | None, _given: Mapping[str, str]) -> Outcome | None:
    known = p.find(pair.key)
    if known is None or known.type != "bool" or pair.value.lower() in ("true", "false") or _has_variable(pair):
        return None
    text = f"'{pair.key}' = '{pair.value}' is now 'false': Hive read every value other than true as false"
    return Outcome("changed", text, Pair(pair.key, "false"))


def _task_duration(pair: Pair, _kind: TableKind | None, _given: Mapping[str, str]) -> Outcome | None:
    if pair.key != p.TASK_DURATION or not PERIOD.fullmatch(pair.value) or seconds(pair.value) >= 60:
        return None
    text = f"'{pair.key}' = '{pair.value}' is now 'PT1M': Druid tasks fail with less than a minute"
    return Outcome("changed", text, Pair(pair.key, "PT1M"))


def _rollup(pair: Pair, _kind: TableKind | None, _given: Mapping[str, str]) -> Outcome | None:
    if pair.key != "druid.rollup" or pair.value.lower() != "true":
        return None
    text = (
        "'druid.rollup' = 'true' takes effect; Hive read every value of the property as false: use 'false' to keep that"
    )
    return Outcome("note", text, pair)


def _format(pair: Pair, _kind: TableKind | None, _given: Mapping[str, str]) -> Outcome | None:
    notes = {
        "tsv": "'tsv' is the same as 'delimited'; Hive rejected it although its error message listed it",
        "avro": "Avro requires the Druid extension druid-avro-extensions",
    }
    if pair.key != "druid.parseSpec.format" or (note := notes.get(pair.value.lower())) is None:
        return None
    return Outcome("note", note, pair)


def _reset(pair: Pair, _kind: TableKind | None, _given: Mapping[str, str]) -> Outcome | None:
    if pair.key != p.KAFKA_INGESTION or pair.value.upper() != "RESET":
        return None
    text = (
        "RESET reports which records are lost or repeated and asks for confirmation: scripts need --yes; "
        "Hive did not ask"
    )
    return Outcome("note", text, pair)


def _secret(pair: Pair, _kind: TableKind | None, _given: Mapping[str, str]) -> Outcome | None:
    if not is_secret(pair.key) or not pair.value or referenced(pair.value) is not None:
        return None
    name = variable_name(pair.key)
    where = " on the hosts of Druid's tasks and overlord" if pair.key.startswith(p.INGESTION_PREFIX) else ""
    text = (
        f"'{pair.key}' is now '{ENVIRONMENT_PREFIX}{name}'; store the secret in the environment variable {name}{where}"
    )
    if pair.key.endswith("sasl.jaas.config") and (problem := _jaas_problem(pair.value)):
        text += f"; {problem}"
    return Outcome("changed", text, Pair(pair.key, ENVIRONMENT_PREFIX + name))


def variable_name(key: str) -> str:
    """The environment variable for a secret: `sasl.jaas.config` of the consumer is KAFKA_SASL_JAAS_CONFIG."""
    name = key
    for prefix in (p.CONSUMER_PREFIX, "kafka.consumer.", "kafka.producer.", "hive.kafka."):
        name = name.removeprefix(prefix)
    name = name if name == key else f"kafka_{name}"
    return re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").upper()


def _jaas_problem(text: str) -> str:
    from hivedruid.jaas import login_module

    try:
        login_module(text)
    except HiveDruidError as error:
        return error.message
    return ""


def _has_variable(pair: Pair) -> bool:
    return "${" in pair.value


RULES: tuple[Rule, ...] = (
    _internal, _misspelt, _unknown, _without_effect, _of_another_kind, _brokers_again, _boolean,
    _task_duration, _rollup, _format, _reset, _secret,
)  # fmt: skip
"""Each rule receives the result of the previous ones."""
