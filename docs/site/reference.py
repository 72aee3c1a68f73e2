"""The reference pages, out of the tables that the program itself uses."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from docs.site.diagrams import rules
from hivedruid.catalog.properties import PROPERTIES, TableProperty
from hivedruid.plan.cast_patterns import ELEMENTS
from hivedruid.plan.function_help import HELP
from hivedruid.plan.functions import ALIASES, EXTENSIONS, FUNCTIONS, function_names
from hivedruid.settings import FAMILIES, SETTINGS

ROOT = Path(__file__).parents[2]
_KINDS = {"druid": "Druid", "kafka": "Kafka", "files": "files", "iceberg": "managed", "temporary": "temporary"}
_RULE = re.compile(r"^-- rule: (\w+)\n(.*?)(?=^-- rule: |\Z)", re.MULTILINE | re.DOTALL)


def pages() -> dict[str, str]:
    """The Markdown of every generated page by its path."""
    return {
        "reference/settings.md": settings(),
        "reference/properties.md": properties(),
        "reference/functions.md": functions(),
        "reference/statements.md": statements(),
    }


def settings() -> str:
    rows = [
        (f"`{item.key}`", item.type, _default(item.default, item.values), item.doc)
        for item in [*SETTINGS.values(), *FAMILIES.values()]
    ]
    return (
        "# Settings\n\n"
        "`SET key=value` changes a setting for a session, `--hiveconf key=value` for a command; `SET -v` lists all "
        "with their values, and `RESET key` restores a default. A key that ends in a point stands for all keys that "
        "begin with it.\n\n" + _table(("key", "type", "default", "meaning"), rows)
    )


def properties() -> str:
    parts = [
        "# Table properties\n\n"
        "The keys of `TBLPROPERTIES`. A key that ends in a point stands for all keys that begin with it. "
        "`SHOW TBLPROPERTIES t` shows those of a table.\n"
    ]
    groups: dict[str, list[TableProperty]] = defaultdict(list)
    for item in PROPERTIES.values():
        groups[", ".join(_KINDS[kind] for kind in item.kinds)].append(item)
    for kinds, items in groups.items():
        rows = [(f"`{p.key}`", p.type, _default(p.default or "", p.values), p.doc) for p in items]
        parts.append(f"## Tables: {kinds}\n\n" + _table(("key", "type", "default", "meaning"), rows))
    return "\n".join(parts)


def functions() -> str:
    parts = [
        "# Functions\n\n"
        f"hivedruid has {len(function_names())} functions, with Hive's results "
        "([differences](../hive-differences.md)). Those marked with * are not Hive's. "
        "[What is pushed down](../pushdown.md) lists what Druid computes.\n"
    ]
    others = defaultdict(list)
    for alias, name in ALIASES.items():
        others[name].append(alias)
    for kind in ("scalar", "aggregate", "window", "generator"):
        rows = [
            (
                f"`{function.signature(name)}`" + ("*" if name in EXTENSIONS else ""),
                HELP[name],
                _codes(others[name]),
            )
            for name, function in sorted(FUNCTIONS.items())
            if function.kind == kind and not name.startswith("extract_")
        ]
        parts.append(f"## {kind.capitalize()} functions\n\n" + _table(("function", "meaning", "also called"), rows))
    return "\n".join((*parts, _cast_format()))


def _cast_format() -> str:
    """The elements of the patterns of CAST, one row for each part of a time."""
    names = defaultdict(list)
    for name, element in ELEMENTS.items():
        names[element.field].append(name)
    rows = [
        (_codes(found), field.replace("_", " "), "yes" if ELEMENTS[found[0]].is_parsed else "no")
        for field, found in names.items()
    ]
    return (
        "## CAST … FORMAT\n\n"
        "`CAST(s AS DATE FORMAT 'DD.MM.YYYY')` parses a string as a DATE or TIMESTAMP, "
        "`CAST(t AS STRING FORMAT 'FMDD Month YYYY')` writes one as STRING, VARCHAR or CHAR. The elements are "
        "case-insensitive; the case of a name is that of the element. `FM` before an element omits zeros and blanks, "
        "`FX` parses only strings with the digits and separators of the pattern. Other elements are `T`, `Z`, the "
        "separators `- . / , ' ; :` and blank, and text in double quotes. A string that does not match is NULL.\n\n"
        + _table(("elements", "part of a time", "parsed"), rows)
    )


def statements() -> str:
    examples = dict(_RULE.findall((ROOT / "grammar" / "hive_statements.q").read_text(encoding="utf-8")))
    parts = [
        "# Statements\n\n"
        "The grammar of the Hive dialect, from `grammar/hive_statements.lark`. Keywords are case-insensitive; "
        "comments are `-- …` and `/* … */`.\n"
    ]
    chapter = ""
    for rule in rules(ROOT / "grammar" / "hive_statements.lark"):
        if rule.chapter != chapter:
            chapter = rule.chapter
            parts.append(f"## {chapter}\n")
        parts.append(f"### {rule.name.replace('_', ' ')} {{ #{rule.name} }}\n")
        parts.append(f'<div class="railroad">{_one_line(rule.svg)}</div>\n')
        if rule.name in examples:
            parts.append(f"```sql\n{examples[rule.name].strip()}\n```\n")
    return "\n".join(parts)


def _one_line(svg: str) -> str:
    return svg.replace("\n", "")


def _default(default: str, values: Sequence[str]) -> str:
    return _code(default) + (f" of {', '.join(values)}" if values else "") if default else ", ".join(values)


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _codes(texts: Iterable[str]) -> str:
    return ", ".join(map(_code, sorted(texts)))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
