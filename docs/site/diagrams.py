"""Railroad diagrams of the rules of a grammar, as SVG."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lark import Tree
from lark.load_grammar import load_grammar
from railroad import Choice, Diagram, DiagramItem, NonTerminal, OneOrMore, Optional, Sequence, Terminal, ZeroOrMore

_CHAPTER = re.compile(r"^// ---- (.+)$|^\??(\w+):", re.MULTILINE)


@dataclass(frozen=True)
class Rule:
    """One rule, with its chapter in the grammar and the SVG of its diagram."""

    name: str
    chapter: str
    svg: str


def rules(grammar: Path) -> list[Rule]:
    """All rules in the order of the file. `// ---- title` begins a chapter."""
    text = grammar.read_text(encoding="utf-8")
    chapters, chapter = {}, "Scripts"
    for match in _CHAPTER.finditer(text):
        chapter = match[1] or chapter
        if match[2]:
            chapters[match[2]] = chapter[0].upper() + chapter[1:]
    load: Any = load_grammar  # without types
    loaded, _ = load(text, str(grammar), [], False)
    definitions = {str(name).lstrip("?"): tree for name, _, tree, _ in loaded.rule_defs}
    return [Rule(name, chapters[name], _svg(tree, chapters)) for name, tree in definitions.items()]


def _svg(tree: Tree[Any], chapters: Mapping[str, str]) -> str:
    written = io.StringIO()
    Diagram(_item(tree, chapters), css=None).writeSvg(written.write)
    return written.getvalue()


def _item(tree: Tree[Any], chapters: Mapping[str, str]) -> DiagramItem:
    parts = tree.children
    if tree.data == "expansions":
        items = [_item(part, chapters) for part in parts]
        return items[0] if len(items) == 1 else Choice(0, *items)
    if tree.data == "expansion":
        items = [_item(part, chapters) for part in parts]
        return items[0] if len(items) == 1 else Sequence(*items)
    if tree.data == "expr":
        repeated = _item(parts[0], chapters)
        return {"?": Optional, "*": ZeroOrMore, "+": OneOrMore}[str(parts[1])](repeated)
    if tree.data == "maybe":
        return Optional(_item(parts[0], chapters))
    if tree.data == "alias":
        return _item(parts[0], chapters)
    return _value(parts[0], chapters)


def _value(value: Any, chapters: Mapping[str, str]) -> DiagramItem:
    if isinstance(value, Tree):  # "KEYWORD"i or /pattern/
        (token,) = value.children
        return Terminal(_literal(str(token)))
    name = str(value.name)
    label = name.lower().replace("_", " ")
    return NonTerminal(label, href=f"#{name}") if name in chapters else NonTerminal(label)


def _literal(text: str) -> str:
    return text.removesuffix("i")[1:-1] if text.startswith(('"', "/")) else text
