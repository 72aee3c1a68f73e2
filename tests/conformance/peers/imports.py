"""The CREATE TABLE statements of Hive's tests, imported and run."""

from __future__ import annotations

import re
from pathlib import Path

from tests.conformance.cases import folder, read_json
from tests.unit.hive_ddl.test_import_script import run_imported

_CREATE = re.compile(r"CREATE\s+(EXTERNAL\s+)?TABLE\s+[\w`.]+\s*\(", re.IGNORECASE)


def statements() -> list[str]:
    """Those with columns, each once."""
    texts: dict[str, None] = {}
    for path in sorted((folder() / "hive").glob("*.json")):
        for case in read_json(path):
            texts.update(dict.fromkeys(text.strip() for text in case.get("tables") or [] if isinstance(text, str)))
    return [text for text in texts if _CREATE.match(text)]


def test_hivedruid_takes_what_comes_out(tmp_path: Path) -> None:
    texts = statements()
    assert texts
    assert run_imported(texts, tmp_path) > 0
