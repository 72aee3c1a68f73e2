"""The command's page: a table per file, the queries that are not fully pushed, the measures."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from tests.conformance.answerable import unanswerable
from tests.conformance.meanings import other_meaning
from tests.conformance.outcomes import Outcome
from tests.conformance.planned import Planned, intervals_of, plan_of

T = TypeVar("T")

HEADER = ("file", "queries", "full", "partly", "not", "same type", "same intervals", "rows equal", "refused", "crashed")


def report(all_outcomes: Sequence[Outcome]) -> str:
    """The whole page."""
    all_planned = [outcome.planned for outcome in all_outcomes]
    lines = [*_table(all_outcomes), "", *_measures(all_outcomes), "", *_rows(all_outcomes), *_unpushed(all_planned)]
    return "\n".join([*lines, *_types(all_planned), *_intervals(all_planned)]) + "\n"


# --- the table -------------------------------------------------------------------------------------------------------


def _table(all_outcomes: Sequence[Outcome]) -> Iterator[str]:
    files = list(dict.fromkeys(o.case.file for o in all_outcomes))
    rows = [_row(name, [o for o in all_outcomes if o.case.file == name]) for name in files]
    rows.append(_row("all", all_outcomes))
    yield from aligned([HEADER, *rows])


def _row(name: str, some: Sequence[Outcome]) -> tuple[str, ...]:
    made = [o.planned for o in some]
    count = Counter(p.pushed for p in made)
    translated = sum(count.values()) - count["untranslatable"]
    compared = [o for o in some if o.rows is not None]
    rows = f"{sum(is_right(o) for o in compared)}/{len(compared)}" if compared else "-"
    refused = sum(o.rows == "refused" for o in some)
    crashed = count["crashed"] + sum(o.rows == "failed" for o in some)
    return (
        name, str(translated), str(count["full"]), str(count["partly"]), str(count["not"]), share(p.same_type for p in made),
        share(p.same_intervals for p in made), rows, str(refused), str(crashed),
    )  # fmt: skip


def is_right(outcome: Outcome) -> bool:
    """Whether every engine returned the expected result; if the peer's meaning differs, Hive's counts, with the
    reason.
    """
    return outcome.rows in ("equal", "open") or (outcome.rows == "other" and other_meaning(outcome.case) is not None)


def aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))]
        )


def share(answers: Iterable[bool | None]) -> str:
    known = [answer for answer in answers if answer is not None]
    return f"{sum(known)}/{len(known)}" if known else "-"


# --- the measures ----------------------------------------------------------------------------------------------------


def reason_beyond(planned: Planned) -> str | None:
    """The reason why Druid cannot answer the case natively; None if it can, or if there is no plan."""
    return None if planned.plan is None else unanswerable(plan_of(planned.case, ()))


def _counted(all_planned: Iterable[Planned], peer: str) -> list[Planned]:
    """The cases of a peer's share: those of Calcite that Druid can answer, those of Hive that Hive pushes down
    fully."""
    some = [p for p in all_planned if p.case.peer.name == peer and p.pushed not in ("untranslatable", "invalid")]
    if peer == "hive":
        return [p for p in some if p.case.peer.is_full]
    return [p for p in some if _is_full(p) or reason_beyond(p) is None]


def percent(all_outcomes: Iterable[Outcome], peer: str) -> float:
    """The share of those cases that are one native query with nothing above it; 1 if there are none."""
    counted = _counted((o.planned for o in all_outcomes), peer)
    return sum(map(_is_full, counted)) / len(counted) if counted else 1.0


def _measures(all_outcomes: Sequence[Outcome]) -> Iterator[str]:
    all_planned = [o.planned for o in all_outcomes]
    calcite = [p for p in all_planned if p.case.peer.name == "calcite"]
    yield _percent(
        "Calcite's cases that Druid can answer: one native query", _counted(all_planned, "calcite"), _is_full
    )
    yield _percent("Hive's cases that Hive pushes whole: one native query", _counted(all_planned, "hive"), _is_full)
    yield _percent("Calcite's cases that Calcite pushes whole", [p for p in calcite if p.case.peer.is_full], _is_full)
    compared = [o for o in all_outcomes if o.rows is not None]
    if compared:
        yield _percent("rows equal", compared, is_right)
        yield f"refused by Druid: {sum(o.rows == 'refused' for o in compared)}"
    crashed = sum(p.pushed == "crashed" for p in all_planned) + sum(o.rows == "failed" for o in compared)
    yield f"crashed: {crashed}"
    seconds = [p.seconds * 1000 for p in all_planned if p.plan is not None]
    if seconds:
        worst = max((p for p in all_planned if p.plan is not None), key=lambda p: p.seconds)
        yield f"planning: median {statistics.median(seconds):.2f} ms, worst {max(seconds):.1f} ms ({worst.case.id})"


def _is_full(p: Planned) -> bool:
    return p.pushed == "full"


def _percent(what: str, some: Sequence[T], holds: Callable[[T], bool]) -> str:
    count = sum(holds(p) for p in some)
    return f"{what}: {count} of {len(some)}" + (f" ({count / len(some):.1%})" if some else "")


# --- the rows --------------------------------------------------------------------------------------------------------


def _rows(all_outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Results that are not the peer's: wrong ones in full, the peer's other meanings with their reason."""
    for kind in ("failed", "refused", "wrong", "incomparable", "other"):
        some = [o for o in all_outcomes if o.rows == kind]
        if some:
            yield f"== {TITLES[kind]}: {len(some)}"
            for outcome in some:
                yield from _outcome(outcome)
            yield ""


TITLES = {
    "failed": "no result", "refused": "refused by Druid", "wrong": "other rows than Spark's over the raw rows",
    "incomparable": "no result of Spark over the raw rows to compare with", "other": "Spark's rows, but not the peer's",
}  # fmt: skip


def described(outcome: Outcome) -> str:
    """The details of an unexpected result."""
    return "\n".join(_outcome(outcome))


def _outcome(outcome: Outcome) -> Iterator[str]:
    yield from shown(outcome.planned)
    reason = other_meaning(outcome.case)
    if outcome.rows == "other" and reason is not None:
        yield f"    {reason}"
        return
    for native in outcome.planned.queries:
        yield f"    {json.dumps(native, ensure_ascii=False)[:1500]}"
    for name, answer in outcome.answers.items():
        yield f"    {name}: {outcome.verdicts[name]}: {answer.error if answer.rows is None else f'{len(answer.rows)} rows {answer.rows[:4]}'}"
    if outcome.case.expected.rows is not None:
        yield f"    expected: {len(outcome.case.expected.rows)} rows {outcome.case.expected.rows[:4]}"
    if outcome.true is not None:
        yield f"    Spark: {len(outcome.true.rows)} rows {outcome.true.rows[:4]}"


# --- the lists -------------------------------------------------------------------------------------------------------


def _unpushed(all_planned: Sequence[Planned]) -> Iterator[str]:
    """Queries that are not fully pushed down: first those that the peer pushed down, then those that Druid could
    answer, …
    """
    groups: dict[str, list[Planned]] = {}
    for p in all_planned:
        if p.pushed != "full":
            groups.setdefault(_group(p), []).append(p)
    for title in sorted(groups):
        yield f"== {title[2:]}: {len(groups[title])}"
        for p in _once(groups[title]):
            yield from shown(p)
        yield ""


def _group(p: Planned) -> str:
    if p.pushed == "crashed":
        return "0 crashed"
    if p.pushed == "untranslatable":
        return "8 not translatable into Hive's dialect"
    if p.pushed == "invalid":
        return "9 invalid for us and for the peer"
    name = p.case.peer.name.capitalize()
    if p.case.peer.is_full:
        return f"1 {name} pushes it down fully, we do not"
    beyond = reason_beyond(p)
    if beyond is None:
        return f"2 neither {name} nor we push it whole, though Druid can"
    return f"5 beyond Druid ({beyond}), of {name}"


def _once(some: Iterable[Planned]) -> Iterator[Planned]:
    """One for each text: cases repeat queries in other zones and over other types of time."""
    seen: set[str] = set()
    for p in some:
        if p.case.sql not in seen or not p.case.sql:
            seen.add(p.case.sql)
            yield p


def shown(p: Planned) -> Iterator[str]:
    yield f"{p.case.id} [{p.case.zone}] {p.pushed}"
    yield f"    {' '.join(p.case.sql.split())}"
    if p.error:
        yield f"    {p.error}"
    for left in p.left:
        if not left.reason.startswith("its input is computed outside Druid"):
            yield f"    {left.operator}: {left.reason}"


def _types(all_planned: Sequence[Planned]) -> Iterator[str]:
    changed = Counter(
        (p.case.peer.name, str(p.case.peer.queries[0].get("queryType")), str(p.queries[0]["queryType"]))
        for p in all_planned
        if p.same_type is False
    )
    yield "other query types than the peer's:"
    for (peer, theirs, ours), count in changed.most_common():
        yield f"  {peer}: {theirs} -> {ours}: {count}"


def _intervals(all_planned: Sequence[Planned]) -> Iterator[str]:
    yield "other intervals than the peer's:"
    for p in all_planned:
        if p.same_intervals is False:
            ours, theirs = (
                " ".join(f"{a:%Y-%m-%dT%H:%M:%S}/{b:%Y-%m-%dT%H:%M:%S}" for a, b in intervals_of(q)[:4])
                for q in (p.queries[0], p.case.peer.queries[0])
            )
            yield f"  {p.case.id} {' '.join(p.case.sql.split())[:200]}: ours {ours or 'none'}; theirs {theirs or 'none'}"
