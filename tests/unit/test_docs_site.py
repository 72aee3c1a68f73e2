"""The site of the documentation: it builds without a warning, and its generated pages are complete."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from hivedruid.catalog.properties import PROPERTIES
from hivedruid.plan.functions import FUNCTIONS
from hivedruid.settings import SETTINGS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """mkdocs is strict: a link to a page or heading that does not exist fails the build."""
    folder = tmp_path_factory.mktemp("site")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


def test_every_page_is_in_the_navigation(site: Path) -> None:
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")}
    assert {path.stem for path in site.glob("*.html")} - {"404", "index", "contributing", "benchmarks"} == pages
    navigation = (site / "index.html").read_text(encoding="utf-8")
    assert [page for page in pages if f'href="{page}.html"' not in navigation] == []


def test_code_in_tables_has_no_escapes(site: Path) -> None:
    for path in site.glob("*.html"):
        assert re.findall(r"<td>[^\n]*<code>[^<\n]*\\\|[^<\n]*</code>", path.read_text(encoding="utf-8")) == [], (
            path.name
        )


def test_the_screens_are_part_of_it(site: Path) -> None:
    assert 'src="screens/recording.svg"' in (site / "index.html").read_text(encoding="utf-8")
    assert (site / "screens" / "recording.svg").is_file()


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("settings", set(SETTINGS)),
        ("properties", set(PROPERTIES)),
        ("functions", {name for name in FUNCTIONS if not name.startswith("extract_")}),
    ],
)
def test_reference(site: Path, page: str, names: set[str]) -> None:
    text = (site / "reference" / f"{page}.html").read_text(encoding="utf-8")
    listed = {unescape(name) for name in re.findall(r"<td><code>([^<(]+)", text)}
    assert names - listed == set()


def test_statements_have_diagrams_and_examples(site: Path) -> None:
    text = (site / "reference" / "statements.html").read_text(encoding="utf-8")
    rules = set(
        re.findall(r"^\??(\w+):", (ROOT / "grammar" / "hive_statements.lark").read_text(encoding="utf-8"), re.M)
    )
    rules = {rule for rule in rules if rule.islower()}
    assert set(re.findall(r'<h3 id="(\w+)"', text)) == rules
    assert text.count('<svg class="railroad-diagram"') == len(rules)
    assert set(re.findall(r'href="#(\w+)"', text)) >= rules - {"script"}
    assert text.count('<div class="highlight">') > 100
