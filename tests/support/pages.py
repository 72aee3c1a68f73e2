"""The code blocks of the documentation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md")

_MARKER = re.compile(r"<!-- not run: (?P<reason>.+) -->")
_FENCE = re.compile(r"^```(?P<kind>\w*)$")


@dataclass(frozen=True)
class Block:
    """`kind` is the word after the fence, or `indented`; `line` is the number of its first line of code. `not_run` is
    the reason of a marker in front of the block: <!-- not run: reason -->."""

    page: Path
    line: int
    kind: str
    text: str
    not_run: str

    @property
    def file(self) -> str:
        """The name of the file, if the first line is a comment with it: `-- edits.q`."""
        match = re.match(r"(?:--|#) ([\w-]+\.\w+)\n", self.text)
        return match[1] if match else ""

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    lines = page.read_text(encoding="utf-8").splitlines()
    number, marker = 0, ""
    while number < len(lines):
        line = lines[number]
        begin = number
        if fence := _FENCE.match(line):
            end = lines.index("```", number + 1)
            yield Block(page, begin + 2, fence["kind"], "\n".join(lines[begin + 1 : end]) + "\n", marker)
            number = end
        elif line.startswith("    ") and (number == 0 or not lines[number - 1]):
            while number + 1 < len(lines) and (lines[number + 1].startswith("    ") or not lines[number + 1]):
                number += 1
            text = "\n".join(each.removeprefix("    ") for each in lines[begin : number + 1])
            yield Block(page, begin + 1, "indented", text.rstrip("\n") + "\n", marker)
        if line.strip():
            found = _MARKER.match(line)
            marker = found["reason"] if found else ""
        number += 1
