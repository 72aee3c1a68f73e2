"""LET for DuckDB: a long SQL expression that is used several times is written and computed once.

DuckDB expands a macro's argument as often as the macro uses it, so nested calls grow exponentially while a query is
bound. A list of one element implements LET: `list_transform([{'f0': …}], lambda b: … b.f0 … b.f0 …)[1]`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import count

from hivedruid.embedded.macros import MACROS

LONG_TEXT = 300
"""The length from which SQL gets a name. Below it, the number of copies that its macros make decides."""

MANY_COPIES = 30

_TOKEN = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|(druid_\w+)?(\()|(\))|([a-zA-Z_]\w*(?:\.\w+)?)""")


def is_long(text: str) -> bool:
    """Whether SQL is too long to be written more than once."""
    return len(text) > LONG_TEXT or ("druid_" in text and _copies(text) > MANY_COPIES)


def once(texts: Sequence[str], write: Callable[[Sequence[str]], str], *, beside: Sequence[str] = ()) -> str:
    """`write(texts)`, with a name for each long text that it uses more than once, so that it is computed once.

    `beside`: other SQL that it writes, which may contain names, too.
    """
    name, names = named(texts, beside)
    written = write([names.get(place, text) for place, text in enumerate(texts)])
    return let(name, {names[place]: texts[place] for place in names}, written)


def named(texts: Sequence[str], beside: Sequence[str] = ()) -> tuple[str, dict[int, str]]:
    """An unused name for a LET, and the names of the long texts within it by position."""
    places = [place for place, text in enumerate(texts) if is_long(text)]
    if not places:
        return "", {}
    name = next(f"b{n}" for n in count() if not any(f"b{n}." in text for text in (*texts, *beside)))
    return name, {place: f"{name}.f{place}" for place in places}


def let(name: str, values: dict[str, str], written: str) -> str:
    """SQL that uses the names, with their values bound; a value that is used once is inlined."""
    bound = {}
    for field, text in values.items():
        if _copies(written, field) > 1:
            bound[field] = text
        else:
            written = re.sub(rf"\b{re.escape(field)}\b", lambda _, text=text: text, written)  # type: ignore[misc]
    if not bound:
        return written
    row = ", ".join(f"'{field.partition('.')[2]}': {text}" for field, text in bound.items())
    return f"list_transform([{{{row}}}], lambda {name}: {written})[1]"


def _copies(text: str, name: str | None = None) -> int:
    """How often `name` stands in SQL once its macros are written out; without one, its most copied part."""
    factors = [1]
    total = 0
    for token in _TOKEN.finditer(text):
        macro, opened, closed, word = token.groups()
        if opened:
            factors.append(factors[-1] * (factor(macro) if macro else 1))
        elif closed:
            if len(factors) > 1:
                factors.pop()
        elif name is None:
            total = max(total, factors[-1])
        elif word == name:
            total += factors[-1]
    return total


@cache
def factor(macro: str) -> int:
    """How often a macro expands its most used argument."""
    signature = next(s for s in MACROS if s.startswith(f"{macro}("))
    names = signature.partition("(")[2].rstrip(")").split(", ")
    return max(1, *(_copies(MACROS[signature], name) for name in names))
