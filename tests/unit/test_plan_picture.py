"""Pictures of a plan, and `hivedruid explain`."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from hivedruid import plan_picture
from hivedruid.cli import main
from hivedruid.plan_steps import Step

SCAN = Step("druid", "scan query", {"table": "default.<edits> & more", "filter": "(city = 'x\x1b') AND " * 40})
TREE = Step(
    "spark",
    "Join",
    {"type": "inner"},
    10,
    (Step("spark", "Union all", {}, None, (SCAN, SCAN)), Step("spark", "Scan", {"table": "default.t"}, 1)),
)
SVG = "{http://www.w3.org/2000/svg}"


def test_the_text_has_a_branch_for_each_input() -> None:
    assert plan_picture.text([TREE], 40).splitlines()[:6] == [
        "Spark: Join (about 10 rows)",
        "│    type: inner",
        "├─ Spark: Union all",
        "│  ├─ Druid: scan query",
        "│  │       table: default.<edits> & more",
        "│  │       filter: (city = 'x\\x1b') AND…",
    ]


def test_the_boxes_of_the_picture_are_apart_and_contain_their_text() -> None:
    root = ET.fromstring(plan_picture.svg([TREE, TREE], "SELECT 1"))  # noqa: S314 - it is our own
    groups = root.findall(f"{SVG}g")
    assert len(groups) == 10
    boxes = []
    for group in groups:
        rect = group.find(f"{SVG}rect")
        assert rect is not None
        left, top, width, height = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
        boxes.append((left, top, left + width, top + height))
        for text in group.findall(f"{SVG}text"):
            x, y = float(text.attrib["x"]), float(text.attrib["y"])
            assert left < x < x + len(text.text or "") * plan_picture.CHARACTER < left + width + 0.2
            assert top < y < top + height
    for (a, b, c, d), (e, f, g, h) in combinations(boxes, 2):
        assert c < e or g < a or d < f or h < b
    assert max(box[2] for box in boxes) < float(root.attrib["width"])
    assert max(box[3] for box in boxes) < float(root.attrib["height"])


def test_the_picture_stands_alone_in_light_and_dark() -> None:
    text = plan_picture.svg([TREE], "SELECT 1")
    assert re.findall(r"<script|href|url\(|@import|\bon\w+=", text) == []
    used, light, _, dark = set(re.findall(r"var\((--[\w-]+)\)", text)), *re.split(r"(prefers-color-scheme:dark)", text)
    assert used == set(re.findall(r"(--[\w-]+):", light)) == set(re.findall(r"(--[\w-]+):", dark))


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_last_statement_of_a_script_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "a.q"
    script.write_text(
        "SET hivevar:least=3;\nCREATE EXTERNAL TABLE edits (`__time` timestamp, page string, added bigint)"
        " STORED BY 'druid';\nEXPLAIN SELECT page FROM edits WHERE added > ${least};",
        encoding="utf-8",
    )
    options = ["explain", "--home", str(tmp_path / "home"), "-f", str(script)]
    assert main(options) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Druid: scan query", "     table: default.edits", "     filter: (added > 3)", "     projects: page",
    ]  # fmt: skip
    assert main([*options, "--svg", str(tmp_path / "a.svg")]) == 0
    assert "(added &gt; 3)" in (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert main(["sql", "--home", str(tmp_path / "home"), "-e", "SHOW TABLES"]) == 0
    assert "edits" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-e", "SHOW TABLES"], "the statement has no plan"),
        (["-e", " "], "there is no statement"),
        (["-e", "SELECT 1", "-f", "a.q"], "-f and -e exclude each other"),
        (["-e", "SELECT nope"], "unknown column 'nope'"),
    ],
)
def test_errors(tmp_path: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--home", str(tmp_path), *options]) > 0
    assert message in capsys.readouterr().err


def test_colours_without_variables() -> None:
    """Programs that draw SVG outside browsers have no CSS variables, and draw black what has no other colour."""
    style = plan_picture.svg([TREE], "SELECT 1").partition("</style>")[0].partition("}}")[2]
    colours = re.findall(r"(fill|stroke):(#[0-9a-f]{6});\1:var\(--[a-z-]+\)", style)
    assert len(colours) == style.count("var(") > 8
