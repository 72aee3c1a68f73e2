"""Each case planned, run and judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tests.conformance.answers import Answer, Engines, Truth
from tests.conformance.cases import Case
from tests.conformance.planned import Planned, planned
from tests.conformance.verdicts import Verdict, verdict

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Outcome:
    """A case's plan, and by engine the verdict on its result, `refused` by Druid, or `failed`."""

    planned: Planned
    verdicts: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, Answer] = field(default_factory=dict)
    """Those that are not as expected."""
    true: Truth | None = None

    @property
    def case(self) -> Case:
        return self.planned.case

    @property
    def rows(self) -> str | None:
        """The worst of the verdicts; None if the case was not run."""
        return max((found.split(":")[0] for found in self.verdicts.values()), key=RANKS.index, default=None)


RANKS = ("equal", "open", "other", "incomparable", "wrong", "refused", "failed")
"""From best to worst; `incomparable` is followed by the reason why Spark has no result to compare with."""


def outcomes(cases: Sequence[Case], engines: Engines | None, progress: Progress = lambda _: None) -> Iterator[Outcome]:
    """The outcomes in the order of the cases; without engines they are only planned."""
    for number, case in enumerate(cases):
        progress(f"{number + 1}/{len(cases)} {case.id}")
        made = planned(case, runs=3)
        yield Outcome(made) if engines is None or made.plan is None else _run(made, engines)
    progress("")


def _run(made: Planned, engines: Engines) -> Outcome:
    case = made.case
    answers: dict[str, Answer] = {"embedded": engines.embedded(case)}
    on_druid = engines.druid(case)
    if on_druid is not None:
        answers["Druid"] = on_druid
        if made.pushed == "full" and made.queries and made.queries[0]["queryType"] != "scan":
            plain = engines.druid(case, vectorized=False)
            assert plain is not None
            answers["Druid, not vectorized"] = plain
    verdicts = {name: _judged(made, answer, engines) for name, answer in answers.items()}
    shown = {name: answers[name] for name, found in verdicts.items() if found not in ("equal", "open")}
    return Outcome(made, verdicts, shown, engines.known_truth(case) if shown else None)


def _judged(made: Planned, answer: Answer, engines: Engines) -> str:
    if answer.rows is None:
        return "refused" if answer.refused else "failed"
    assert made.plan is not None
    types = [column.type for column in made.plan.columns]
    case, asserted = made.case, engines.has_real_rows(made.case)
    try:
        found: Verdict = verdict(case, types, answer.rows, asserted=asserted, truth=lambda: engines.truth(case))
    except Exception as error:  # noqa: BLE001 - Spark cannot run what is left to it: that, too, is for the report
        return f"incomparable: {type(error).__name__}: {str(error)[:300]}"
    return found
