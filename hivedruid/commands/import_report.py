"""The report of `hivedruid import-hive`: by statement what runs, what was changed and what cannot run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from hivedruid.commands.rehearsal import STATUSES, Judged, NoEffect
from hivedruid.diagnostics import one_line
from hivedruid.secret_text import mask_text


def lines(judged: Iterable[Judged]) -> Iterator[str]:
    """One line per statement and one per finding."""
    for each in judged:
        item = each.imported
        what = f" ({item.summary})" if item.summary else ""
        yield f"{one_line(f'{item.place}: {beginning(mask_text(item.source.text))}{what}')}: {each.status}"
        for finding in item.findings:
            yield f"  {one_line(f'{finding.kind}: {finding}')}"


def counts(judged: Iterable[Judged]) -> str:
    """The number of statements of each status, as one line."""
    found = Counter(each.status for each in judged)
    return f"{sum(found.values())} statements: " + ", ".join(f"{found[status]} {_VERBS[status]}" for status in STATUSES)


_VERBS = {"runs": "run as they are", **{status: status for status in STATUSES[1:]}}


def summary(judged: list[Judged]) -> Iterator[str]:
    """The counts, where the statements are that need attention, and what has no effect."""
    yield counts(judged)
    for status in ("cannot run", "not checked"):
        for each in judged:
            if each.status == status:
                why = each.imported.findings[-1].text.removeprefix("not checked: ")
                yield f"  {one_line(f'{status}: {each.imported.place}: {why}')}"
    by_reason: dict[str, list[str]] = {}
    for part in places_without_effect(judged):
        by_reason.setdefault(part.reason, []).append(part.name)
    for reason, names in by_reason.items():
        listed = ", ".join(names)
        yield f"  {one_line(f'without effect: {listed}: {reason}')}"


def places_without_effect(judged: Iterable[Judged]) -> dict[NoEffect, list[str]]:
    """Where each setting and clause is that has no effect."""
    found: dict[NoEffect, list[str]] = {}
    for each in judged:
        for part in each.without_effect:
            found.setdefault(part, []).append(each.imported.place)
    return found


def as_json(judged: list[Judged], files: list[str]) -> str:
    found = Counter(each.status for each in judged)
    document = {
        "files": files,
        "summary": {status: found[status] for status in STATUSES},
        "statements": [_statement(each) for each in judged],
        "without effect": [
            {"name": part.name, "reason": part.reason, "places": places}
            for part, places in places_without_effect(judged).items()
        ],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _statement(each: Judged) -> dict[str, Any]:
    item = each.imported
    return {
        "file": item.source.file,
        "line": item.source.line,
        "statement": one_line(beginning(mask_text(item.source.text))),
        "status": each.status,
        "creates": item.summary or None,
        "findings": [{"kind": f.kind, "reason": f.text, "next": f.hint or None} for f in item.findings],
    }


def beginning(text: str) -> str:
    """The first words of a statement, up to the first punctuation: they identify it and contain no values."""
    import re

    match = re.match(r"(?:[\w`.]+\s*){1,8}", text)
    words = " ".join(match[0].split()) if match else ""
    return words if len(words) <= 60 else words[:59] + "…"
