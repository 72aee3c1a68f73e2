"""Every block of the documentation with SQL or commands is planned or parsed, so that its names, options and types exist.

A block that cannot be checked has a marker in front of it: <!-- not run: reason -->. `tests/unit/spark/test_doc_pages.py`
runs the SQL of the pages that need no service."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from hivedruid.commands.rehearsal import PlanningSession
from hivedruid.errors import HiveDruidError
from tests.support.command_lines import check, commands
from tests.support.page_tables import GIVEN, NEEDS
from tests.support.pages import PAGES, Block, blocks

OFFLINE = {"druid.url": "embedded:", "hivedruid.kafka.check": "off"}
SQL_PAGES = [page for page in PAGES if any(block.kind == "sql" for block in blocks(page))]
BEGINS = re.compile(r"(SELECT|CREATE|ALTER|INSERT|DROP|SET|SHOW|WITH|UPDATE|DELETE|MERGE|START|EXPLAIN)\b")


def of_kind(*kinds: str) -> Iterator[Block]:
    return (block for page in PAGES for block in blocks(page) if block.kind in kinds and not block.not_run)


@pytest.mark.parametrize("page", SQL_PAGES, ids=lambda page: page.name)
def test_sql_is_planned(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One statement after the other, in a session without rows in which later statements see the tables of earlier ones."""
    monkeypatch.chdir(tmp_path)
    unplanned = 0
    with PlanningSession(tmp_path / "home", configured={}, hiveconf=OFFLINE, hivevar={}, dry_run=True) as session:
        for statement in session.statements(GIVEN.get(page.name, "")):
            session.execute(statement)
        for block in blocks(page):
            if block.kind not in ("sql", "python") or block.not_run:
                continue
            if block.file:
                Path(block.file).write_text(block.text, encoding="utf-8")
            if block.kind == "python" or (block.file and not block.file.endswith(".q")):
                continue
            for statement in session.statements(block.text, str(block)):
                try:
                    session.execute(statement)
                except HiveDruidError as error:
                    if not re.search(NEEDS.get(page.name, "$^"), error.message):
                        pytest.fail(f"{block}: {statement.text}\n{error.message}")
                    unplanned += 1
    assert bool(unplanned) == (page.name in NEEDS)


def test_sql_is_marked_as_such() -> None:
    """Results and plans are blocks without a word; statements would not be checked there."""
    for block in of_kind("", "indented"):
        first = block.text.splitlines()[0]
        assert not BEGINS.match(first), f"{block}: {first}"


def test_commands_have_these_options() -> None:
    checked = 0
    for block in of_kind("sh", "indented"):
        for words in commands(block.text, strict=block.kind == "sh"):
            problem = check(words)
            assert not problem, f"{block}: {' '.join(words)}: {problem}"
            checked += 1
    assert checked > 50


def test_unmarked_blocks_have_no_commands() -> None:
    for block in of_kind(""):
        assert not re.search(r"^(\$ |\S*hivedruid |pip |make )", block.text, re.MULTILINE), str(block)


def test_other_files_can_be_read() -> None:
    for block in of_kind("yaml"):
        assert yaml.safe_load(block.text), str(block)
    for block in of_kind("toml"):
        assert tomllib.loads(block.text), str(block)
    for block in of_kind("python"):
        if ">>>" not in block.text:  # those are run by test_python_page.py
            ast.parse(block.text, str(block))


def test_every_kind_of_block_is_checked() -> None:
    kinds = {block.kind for page in PAGES for block in blocks(page)}
    assert kinds <= {"", "indented", "sql", "sh", "python", "yaml", "toml", "ini", "console"}


def test_statements_at_a_prompt_are_statements() -> None:
    from hivedruid.parser import parse
    from hivedruid.script import split

    typed = [
        (block, text)
        for block in of_kind("console")
        for text in re.findall(r"^hivedruid> (.+?);$", block.text, re.MULTILINE | re.DOTALL)
    ]
    assert len(typed) >= 5
    for block, text in typed:
        for statement in split(text, str(block)):
            parse(statement)
