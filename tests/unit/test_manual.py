"""The man pages are those of the commands: `python -m tests.support.manual` writes them."""

from __future__ import annotations

import pytest

from hivedruid.cli import COMMANDS
from tests.support.manual import FOLDER, pages, plain


def test_the_pages_are_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIVEDRUID_HOME", "/elsewhere")
    assert {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()} == pages()


def test_every_command_has_a_page() -> None:
    names = set(pages())
    assert {f"hivedruid-{name}.1" for name in (*COMMANDS, "sql", "test")} | {"hivedruid.1"} <= names
    assert {"hivedruid-segments-ls.1", "hivedruid-local-up.1"} <= names


def test_a_page() -> None:
    lines = pages()["hivedruid-sql.1"].splitlines()
    assert "\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fIFILE\\fR" in lines
    assert lines[lines.index(".SH EXIT STATUS") + 1].startswith("0 success, 1 a statement failed")


@pytest.mark.parametrize(
    ("text", "roff"),
    [(".parquet\n  a", "\\&.parquet a"), ("'a' \\b", "\\&'a' \\eb"), ("~/.x -y", "\\(ti/.x \\-y")],
)
def test_text_has_no_meaning_in_roff(text: str, roff: str) -> None:
    assert plain(text) == roff
