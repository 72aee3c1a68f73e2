"""The screens of the documentation, from real runs: `python -m tests.support.screens` writes them to docs/screens.

The recording is an SVG picture whose lines appear and disappear by CSS alone."""

from __future__ import annotations

import html
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from hivedruid.catalog.streams import Position, Stream, Streams
from hivedruid.cli import main
from hivedruid.session import Session
from tests.support import embedded_tables
from tests.support.prompt import PROMPT, Prompt
from tests.support.top import Terminal

FOLDER = Path(__file__).parents[2] / "docs" / "screens"
WIDTH, HEIGHT = 88, 24
CHAR, LINE, MARGIN = 8.4, 18, 14
BACKGROUND, FOREGROUND = "#1b1e28", "#d8dce8"
COLORS = {
    "default": FOREGROUND, "black": "#5c6378", "red": "#ff7a85", "green": "#8fd694", "brown": "#f2cc78", "blue": "#82aaff",
    "magenta": "#d7a0ff", "cyan": "#7fdbdb", "white": "#eef0f7", "brightblack": "#7d859c", "brightred": "#ff9aa2",
    "brightgreen": "#a9e6ad", "brightbrown": "#ffe0a0", "brightblue": "#a5c2ff", "brightmagenta": "#e5c4ff",
    "brightcyan": "#a5ecec", "brightwhite": "#ffffff", "008700": "#8fd694", "626262": "#a8afc4",
    "5c5cff": "#82aaff", "af0000": "#ff9aa2",
}  # fmt: skip

Rows = tuple[str, ...]
"""The lines of a screen as SVG, without their position."""

PAGES = ("Main Page", "Druid", "Hive", "Kafka", "Iceberg")
QUERY = "SELECT page, sum(added) AS added FROM wiki GROUP BY page ORDER BY added DESC LIMIT 3;"
SERIES = (
    "SELECT floor_hour(`__time`) AS hour, sum(added) AS added FROM wiki"
    " WHERE `__time` < '2015-01-01 16:00:00' GROUP BY floor_hour(`__time`);"
)
RANKED = (
    "SELECT page, added, rank() OVER (ORDER BY added DESC) AS place"
    " FROM (SELECT page, sum(added) AS added FROM wiki GROUP BY page) totals"
)


@dataclass
class Recording:
    """Frames of a terminal, each with the second at which it ends."""

    prompt: Prompt
    frames: list[tuple[float, Rows]] = field(default_factory=list)
    seconds: float = 0.0

    def frame(self, seconds: float) -> None:
        """The screen, shown for this time."""
        self.seconds += seconds
        self.frames.append((self.seconds, rows(self.prompt.screen)))

    def type(self, text: str) -> None:
        """Type a line word by word, and Enter; wait for the next prompt."""
        self.prompt.ready()
        self.frame(0.8)
        for word in re.findall(r"\S+\s*", text):
            self._word(word)
        self.frame(0.5)
        self.prompt.send("\r")
        self.prompt.wait(lambda lines: lines[-1] == PROMPT)
        self.frame(3.0)

    def _word(self, word: str) -> None:
        self.prompt.send(word)
        self.prompt.wait(lambda lines: word.strip() in "".join(lines))
        self.frame(0.22)


def rows(screen: Any) -> Rows:
    return tuple(_row([screen.buffer[y][x] for x in range(screen.columns)]) for y in range(screen.lines))


def _row(cells: list[Any]) -> str:
    parts = []
    for (fill, back, bold), group in groupby(enumerate(cells), lambda item: _style(item[1])):
        run = list(group)
        text = "".join(cell.data for _, cell in run)
        x, width = run[0][0] * CHAR, len(run) * CHAR
        if back != BACKGROUND:
            parts.append(f'<rect x="{x:g}" y="-13" width="{width:g}" height="{LINE}" fill="{back}"/>')
        if text.strip():
            weight = ' font-weight="bold"' if bold else ""
            kept = text.rstrip()
            shown = html.escape(kept, quote=False).replace(" ", "\u00a0")
            size = f'textLength="{len(kept) * CHAR:g}"'
            parts.append(f'<text x="{x:g}" {size} fill="{fill}"{weight}>{shown}</text>')
    return "".join(parts)


def _style(cell: Any) -> tuple[str, str, bool]:
    fill = COLORS.get(cell.fg, f"#{cell.fg}")
    back = BACKGROUND if cell.bg == "default" else COLORS.get(cell.bg, f"#{cell.bg}")
    return (back, fill, cell.bold) if cell.reverse else (fill, back, cell.bold)


def picture(body: str, width: int, height: int, title: str, style: str = "") -> str:
    wide, high = width * CHAR + 2 * MARGIN, height * LINE + 2 * MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {high:g}" width="{wide:g}" role="img">'
        f"<title>{html.escape(title)}</title><style>text{{font:14px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace}}"
        f'{style}</style><rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>{body}</svg>\n'
    )


def still(screen: Any, title: str) -> str:
    lines = rows(screen)
    while not lines[-1]:
        lines = lines[:-1]
    body = "".join(_placed(y, line) for y, line in enumerate(lines) if line)
    return picture(body, screen.columns, len(lines), title)


def _placed(y: int, line: str, attributes: str = "") -> str:
    return f'<g transform="translate({MARGIN} {MARGIN + 13 + y * LINE})"{attributes}>{line}</g>'


def animated(recording: Recording, title: str) -> str:
    """Each line once for each time that it is on the screen."""
    total = recording.seconds
    rules: dict[tuple[float, float], str] = {}
    body = []
    for y in range(HEIGHT):
        for begin, end, line in _spells(recording.frames, y):
            if not line:
                continue
            name = rules.setdefault((begin, end), f"k{len(rules)}")
            body.append(_placed(y, line, f' class="{name}"'))
    style = "".join(_rule(name, begin / total, end / total, total) for (begin, end), name in rules.items())
    return picture("".join(body), WIDTH, HEIGHT, title, style)


def _spells(frames: list[tuple[float, Rows]], y: int) -> Iterator[tuple[float, float, str]]:
    """When a line of the screen begins and ends to be the same."""
    begin = 0.0
    for line, group in groupby(frames, lambda frame: frame[1][y]):
        end = list(group)[-1][0]
        yield begin, end, line
        begin = end


def _rule(name: str, begin: float, end: float, total: float) -> str:
    """Visible between two shares of the time. Without animations, only the last screen is visible."""
    if (begin, end) == (0, 1):
        return ""
    last = "visible" if end == 1 else "hidden"
    before = "" if begin == 0 else f"0%{{visibility:hidden}}{begin:.3%}{{visibility:visible}}"
    after = "" if end == 1 else f"{end:.3%}{{visibility:hidden}}100%{{visibility:hidden}}"
    first = "0%{visibility:visible}" if begin == 0 else ""
    return (
        f"@keyframes {name}{{{first}{before}{after}}}"
        f".{name}{{visibility:{last}}}@media(prefers-reduced-motion:no-preference)"
        f"{{.{name}{{animation:{name} {total:.1f}s step-end infinite}}}}"
    )


def write(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        home = _home(Path(temporary) / "home")
        (folder / "recording.svg").write_text(_recording(home), encoding="utf-8")
        (folder / "prompt.svg").write_text(_completion(home), encoding="utf-8")
        (folder / "top.svg").write_text(_top(home), encoding="utf-8")
        plan = ["explain", "--home", str(home), "-e", RANKED, "--svg", str(folder / "plan.svg")]
        if main(plan) != 0:
            raise SystemExit("hivedruid explain failed")


def _home(home: Path) -> Path:
    """A day of edits, the same in every run, and a stream whose manager does not run."""
    edits = (
        {"__time": 1_420_070_400_000 + n * 431_000, "page": PAGES[n * n % 7 % 5], "added": n * 37 % 211}
        for n in range(200)
        if n * 7 % 24 > n % 5
    )
    embedded_tables.create(home, "wiki", rows=edits)
    stream = Stream(
        "abc", "default", "clicks", "default.topic", "default.page_clicks", "SELECT id FROM topic", "default"
    )
    with Session(home) as session:
        Streams(session.catalog).add(stream, Position(0, {0: 7}, "id"))
        Streams(session.catalog).set_desired(stream, "running")
    return home


def _recording(home: Path) -> str:
    prompt = Prompt(home, width=WIDTH, height=HEIGHT)
    recording = Recording(prompt)
    for text in (QUERY, SERIES, "\\chart", "\\gv"):
        recording.type(text)
    recording.frame(2.0)
    prompt.leave()
    return animated(recording, "A query, a chart and a plan at the prompt of hivedruid")


def _completion(home: Path) -> str:
    prompt = Prompt(home, width=WIDTH, height=16)
    prompt.ready()
    prompt.send("SELECT page, date_")
    prompt.wait(lambda lines: any("date_format" in line for line in lines))
    drawn = still(prompt.screen, "Completion with signatures at the prompt of hivedruid")
    prompt.send("\x03")
    prompt.ready()
    prompt.leave()
    return drawn


def _top(home: Path) -> str:
    terminal = Terminal(home, width=WIDTH, height=14)
    terminal.wait("1 stream(s)")
    terminal.wait("no manager of streams is running")
    drawn = still(terminal.screen, "hivedruid top with a stream")
    terminal.process.send("q")
    terminal.end()
    return drawn


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    write(FOLDER)
