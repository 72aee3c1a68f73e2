"""The script that draws the screens of the documentation runs, and the pages show its pictures."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.support import screens
from tests.support.pages import PAGES

SHOWN = {
    "recording.svg": ("Druid", "timeseries", "added"),
    "prompt.svg": ("date_format(time,", "a\u00a0date\u00a0some\u00a0days\u00a0later"),
    "top.svg": ("default.clicks", "waiting"),
    "plan.svg": ("groupBy query", "hivedruid"),
}
"""Each picture, and what it must show."""


def test_the_script_draws_every_screen(tmp_path: Path) -> None:
    screens.write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(SHOWN)
    for name, texts in SHOWN.items():
        drawn = "".join(ET.parse(tmp_path / name).getroot().itertext())  # noqa: S314
        assert [text for text in texts if text not in drawn] == []
        assert (tmp_path / name).stat().st_size < 60_000


def test_the_recording_is_an_animation_without_scripts() -> None:
    text = (screens.FOLDER / "recording.svg").read_text(encoding="utf-8")
    assert text.count("@keyframes") > 20
    assert "<script" not in text


def test_the_pages_show_the_screens() -> None:
    shown = {match for page in PAGES for match in re.findall(r"screens/([\w.]+)\)", page.read_text(encoding="utf-8"))}
    assert shown == {path.name for path in screens.FOLDER.iterdir()} == set(SHOWN)
