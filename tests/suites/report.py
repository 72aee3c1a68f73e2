"""The table of a run, and the file with the queries that are not equal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tests.suites.cases import VERDICTS, Outcome

SHOWN = 12
"""Reasons listed for a verdict of a suite."""


def table(found: Mapping[str, Sequence[Outcome]]) -> str:
    """How many queries of each suite have each verdict, as a table of Markdown."""
    counts = {suite: Counter(outcome.verdict for outcome in outcomes) for suite, outcomes in found.items()}
    if len(counts) > 1:
        counts["all"] = sum(counts.values(), Counter())
    lines = [f"| suite | queries | {' | '.join(VERDICTS)} |", f"|---|{'---:|' * (len(VERDICTS) + 1)}"]
    for suite, by in counts.items():
        cells = [by.total(), *(by[verdict] for verdict in VERDICTS)]
        lines.append(f"| {suite} | {' | '.join(f'{cell:,}' for cell in cells)} |")
    return "\n".join(lines) + "\n"


def reasons(found: Mapping[str, Sequence[Outcome]]) -> str:
    """Why queries of a suite are not equal: the most frequent reasons."""
    return "".join(f"{line}\n" for suite, outcomes in found.items() for line in _reasons(suite, outcomes))


def _reasons(suite: str, outcomes: Sequence[Outcome]) -> Iterator[str]:
    counts = Counter((outcome.verdict, outcome.reason) for outcome in outcomes if outcome.reason)
    for verdict in VERDICTS:
        some = [(reason, count) for (its, reason), count in counts.most_common() if its == verdict]
        for reason, count in some[:SHOWN]:
            yield f"{suite}: {verdict}: {count:,} {reason}"
        if len(some) > SHOWN:
            yield f"{suite}: {verdict}: {sum(count for _, count in some[SHOWN:]):,} for {len(some) - SHOWN} other reasons"


def details(found: Mapping[str, Sequence[Outcome]]) -> str:
    """Each query that is not equal, wrong ones first, as text to paste: its tables, both texts, both results."""
    outcomes = [
        outcome for some in found.values() for outcome in some if outcome.verdict not in ("equal", "needs Spark")
    ]
    outcomes.sort(key=lambda outcome: ("wrong", "refused", "not comparable", "not Hive's SQL").index(outcome.verdict))
    return "\n".join(line for outcome in outcomes for line in _detail(outcome))


def _detail(outcome: Outcome) -> Iterator[str]:
    case = outcome.case
    yield f"-- {outcome.verdict}: {case.place}: {outcome.reason}"
    yield from (f"-- {line}" for line in case.original.splitlines())
    yield f"{case.sql};"
    if outcome.verdict == "wrong":
        for used in case.tables:
            columns = ", ".join(f"{name} {type_}" for name, type_ in used.columns)
            yield f"-- {used.name} ({columns}): {used.rows[:12]}"
        yield from (f"-- {view}" for view in case.views)
        yield from (f"-- expected: {line}" for line in case.expected.text.splitlines())
        yield from (f"-- row: {row}" for row in outcome.rows[:40])
    yield ""
