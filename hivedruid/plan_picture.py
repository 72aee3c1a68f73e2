"""Pictures of a plan: as SVG, which follows the colours of its viewer and contains no script, and as text for a
terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from xml.sax.saxutils import escape

from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan_steps import ENGINES, Engine, Step
from hivedruid.terminal import display_width, printable

CHARACTER, LINE = 7.25, 17
"""The width of a character and the height of a line, in pixels of a font of 12 pixels."""
PADDING, GAP, MARGIN = 10, 26, 20
"""The space in a box, between boxes, and around the picture."""
LONGEST, MOST_LINES = 48, 3
"""The characters of a line in a box, and the lines of an attribute; its box has the whole text as a tooltip."""
HEADING = 110

_LIGHT: Mapping[str, str] = {
    "paper": "#ffffff", "ink": "#1f2328", "faint": "#57606a", "edge": "#8c959f",
    "druid": "#e3eefc", "druid-line": "#1f6feb", "spark": "#fdeedd", "spark-line": "#bc5a00",
    "hivedruid": "#eceff2", "hivedruid-line": "#6e7781",
}  # fmt: skip
_DARK: Mapping[str, str] = {
    "paper": "#0d1117", "ink": "#e6edf3", "faint": "#9da7b3", "edge": "#6e7681",
    "druid": "#10233f", "druid-line": "#58a6ff", "spark": "#36210d", "spark-line": "#f0883e",
    "hivedruid": "#21262d", "hivedruid-line": "#8b949e",
}  # fmt: skip


def svg(steps: Sequence[Step], heading: str) -> str:
    """The steps as an SVG document; `heading` is the statement. The rows of each box go to the box above it."""
    trees = [_box(step) for step in steps]
    title = _shortened(printable(" ".join(heading.split())), HEADING)
    used = [engine for engine in ENGINES if any(s.engine == engine for step in steps for s in step.walk())]
    head = [_text(MARGIN, MARGIN + 12, title, "title"), *_legend(used, MARGIN + 2 * LINE)]
    top, left, width = MARGIN + 3.6 * LINE, float(MARGIN), len(title) * CHARACTER
    body: list[str] = []
    for tree in trees:
        rows = _heights(tree)
        body += _drawn(tree, left, [top + sum(rows[:i]) + GAP * i for i in range(len(rows))])
        left += tree.spread + 2 * GAP
        width = max(width, left - 2 * GAP - MARGIN)
    height = top + max(sum(rows) + GAP * (len(rows) - 1) for rows in map(_heights, trees)) + MARGIN
    size = f"{width + 2 * MARGIN:.0f}", f"{height:.0f}"
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}"'
            f' viewBox="0 0 {size[0]} {size[1]}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>{_style()}</style>",
            '<rect class="paper" width="100%" height="100%"/>',
            *head,
            *body,
            "</svg>",
            "",
        )
    )


def text(steps: Sequence[Step], width: int) -> str:
    """The steps as lines of at most this width, the inputs of each below it."""
    lines = [_shortened(line, width) for step in steps for line in _lines(step, "", "", "")]
    return "\n".join(lines)


# --- text -------------------------------------------------------------------------------------------------------------


def _lines(step: Step, before: str, branch: str, below: str) -> Iterator[str]:
    what = f"{ENGINES[step.engine]}: {step.operator}" + (f" ({step.estimate})" if step.estimate else "")
    yield f"{before}{branch}{what}"
    rest = before + below
    for key, value in step.attributes.items():
        yield f"{rest}{'│' if step.inputs else ' '}    {key}: {printable(value)}"
    for number, item in enumerate(step.inputs, 1):
        last = number == len(step.inputs)
        yield from _lines(item, rest, "└─ " if last else "├─ ", "   " if last else "│  ")


def _shortened(line: str, width: int) -> str:
    if display_width(line) <= width:
        return line
    while display_width(line) > width - 1:
        line = line[:-1]
    return line + "…"


# --- SVG --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Box:
    """A step with its lines, its size, and the width of the tree below it."""

    step: Step
    lines: tuple[tuple[str, str], ...]
    width: float
    height: float
    spread: float
    inputs: tuple[_Box, ...]


def _box(step: Step) -> _Box:
    lines = [("operator", step.operator)]
    for key, value in step.attributes.items():
        parts = wrap(f"{key}: {printable(value)}", LONGEST, subsequent_indent="  ") or [f"{key}:"]
        if len(parts) > MOST_LINES:
            parts = [*parts[: MOST_LINES - 1], _shortened(parts[MOST_LINES - 1] + " " * LONGEST, LONGEST - 1).rstrip()]
        lines += [("attribute", part) for part in parts]
    if step.estimate:
        lines.append(("estimate", step.estimate))
    first = display_width(step.operator) + 2 + len(ENGINES[step.engine])
    longest = max(first, *(display_width(line) for _, line in lines))
    inputs = tuple(_box(item) for item in step.inputs)
    width = longest * CHARACTER + 2 * PADDING
    below = sum(item.spread for item in inputs) + GAP * max(0, len(inputs) - 1)
    return _Box(step, tuple(lines), width, len(lines) * LINE + PADDING, max(width, below), inputs)


def _heights(box: _Box) -> list[float]:
    """The height of each level of a tree."""
    below = [_heights(item) for item in box.inputs]
    deepest = max(map(len, below), default=0)
    return [box.height, *(max(levels[i] for levels in below if i < len(levels)) for i in range(deepest))]


def _drawn(box: _Box, left: float, tops: Sequence[float]) -> Iterator[str]:
    """A tree in the width of its spread, with a line from each input to its reader."""
    x, y = left + (box.spread - box.width) / 2, tops[0]
    widths = sum(item.spread for item in box.inputs) + GAP * max(0, len(box.inputs) - 1)
    at = left + (box.spread - widths) / 2
    for item in box.inputs:
        middle, turn = at + item.spread / 2, tops[1] - GAP / 2
        yield (
            f'<path class="edge" d="M{middle:.1f} {tops[1]:.1f}V{turn:.1f}'
            f'H{left + box.spread / 2:.1f}V{y + box.height:.1f}"/>'
        )
        yield from _drawn(item, at, tops[1:])
        at += item.spread + GAP
    engine = box.step.engine
    whole = [box.step.operator, *(f"{key}: {printable(value)}" for key, value in box.step.attributes.items())]
    yield f"<g><title>{escape(chr(10).join(whole))}</title>"
    yield (f'<rect class="{engine}" x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="5"/>')
    name = ENGINES[engine]
    yield _text(x + box.width - PADDING - len(name) * CHARACTER, y + LINE, name, f"{engine}-name")
    for number, (kind, line) in enumerate(box.lines, 1):
        yield _text(x + PADDING, y + number * LINE, line, kind)
    yield "</g>"


def _legend(engines: Sequence[Engine], y: float) -> Iterator[str]:
    x = float(MARGIN)
    for engine in engines:
        label = f"computed by {ENGINES[engine]}"
        yield f'<rect class="{engine}" x="{x:.1f}" y="{y - 10:.1f}" width="12" height="12" rx="3"/>'
        yield _text(x + 20, y, label, "attribute")
        x += 20 + (len(label) + 3) * CHARACTER


def _text(x: float, y: float, line: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" xml:space="preserve">{escape(line)}</text>'


def _style() -> str:
    """The colours of a light and of a dark viewer. Programs without CSS variables, such as converters to PNG, skip the
    second value of each pair."""
    names = ("druid", "spark", "hivedruid")
    rules = [
        f":root{{color-scheme:light dark;{_variables(_LIGHT)}}}",
        f"@media (prefers-color-scheme:dark){{:root{{{_variables(_DARK)}}}}}",
        "text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
        f"{_coloured('fill', 'ink')}}}",
        f".paper{{{_coloured('fill', 'paper')}}}.operator,.title{{font-weight:bold}}"
        f".attribute{{{_coloured('fill', 'faint')}}}",
        f".estimate{{font-style:italic}}.edge{{fill:none;{_coloured('stroke', 'edge')}}}",
        *(
            f".{n}{{{_coloured('fill', n)};{_coloured('stroke', f'{n}-line')}}}"
            f".{n}-name{{{_coloured('fill', f'{n}-line')}}}"
            for n in names
        ),
    ]
    return "".join(rules)


def _coloured(property_: str, name: str) -> str:
    return f"{property_}:{_LIGHT[name]};{property_}:var(--{name})"


def _variables(colours: Mapping[str, str]) -> str:
    return "".join(f"--{name}:{value};" for name, value in colours.items())
