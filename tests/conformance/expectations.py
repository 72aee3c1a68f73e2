"""The recorded plan of each case: a case that is planned worse fails a test.

`expectations.txt` has a line with a status (`full groupBy`, `partly`, …), followed by the keys of the cases that have
it. Cases that are not listed are not judged, so it works with any folder of cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tests.conformance.planned import Planned

PAGE = Path(__file__).with_name("expectations.txt")
RANKS = ("full", "partly", "not", "untranslatable", "invalid", "crashed")
WIDTH = 10
"""Keys in a line."""


def status(planned: Planned) -> str:
    """`full` with the type of the query, or `constant`; for others only the extent of the pushdown."""
    if planned.pushed != "full":
        return planned.pushed
    return f"full {planned.queries[0]['queryType'] if planned.queries else 'constant'}"


def load() -> dict[str, str]:
    """The expected status by key of the case."""
    expected: dict[str, str] = {}
    current = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines() if PAGE.exists() else ():
        if line.startswith("  "):
            expected |= dict.fromkeys(line.split(), current)
        else:
            current = line
    return expected


def save(all_planned: Iterable[Planned]) -> None:
    """Rewrite the page; entries for cases that are not among these are kept."""
    known = {**load(), **{p.case.key: status(p) for p in all_planned}}
    groups: dict[str, list[str]] = {}
    for key, found in known.items():
        groups.setdefault(found, []).append(key)
    lines = []
    for found in sorted(groups, key=lambda text: (RANKS.index(text.split()[0]), text)):
        keys = sorted(groups[found])
        lines += [found, *("  " + " ".join(keys[i : i + WIDTH]) for i in range(0, len(keys), WIDTH))]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def worse(all_planned: Sequence[Planned], expected: Mapping[str, str]) -> Iterator[str]:
    """The cases that are pushed down less than expected, or by another type of query."""
    for p in all_planned:
        before, now = expected.get(p.case.key), status(p)
        if before is None or before == now or _rank(now) < _rank(before):
            continue
        why = [p.error, *(f"{left.operator}: {left.reason}" for left in p.left)]
        yield "\n    ".join([f"{p.case.id}: {before} -> {now}", p.case.sql, *filter(None, why)])


def _rank(text: str) -> int:
    return RANKS.index(text.split(maxsplit=1)[0])
