"""Names in the paths of requests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import hivedruid
from hivedruid.druid.paths import CANDIDATES, path_of


@pytest.mark.parametrize(
    ("name", "encoded"),
    [("plain.name_1", "plain.name_1"), ("a/b", "a%2Fb"), ("50%", "50%25"), ("a;b", "a%3Bb"), ("a b", "a%20b"),
     ("a?b#c", "a%3Fb%23c"), ("é", "%C3%A9"), ("a\\b", "a%5Cb"), ("{}", "%7B%7D"), ("a&b+c", "a%26b%2Bc")],
)  # fmt: skip
def test_a_name_is_one_part_of_the_path(name: str, encoded: str) -> None:
    assert path_of("/x/{}/status", name) == f"/x/{encoded}/status"
    assert path_of("/x?full", name=name) == f"/x?full&name={encoded.replace('%2F', '/')}"


def test_parameters() -> None:
    assert path_of(CANDIDATES, "d", intervals="2024-01-01T00:00Z/2025-01-01T00:00Z") == (
        "/druid/v2/datasources/d/candidates?intervals=2024-01-01T00:00Z/2025-01-01T00:00Z"
    )
    assert path_of("/x", a=None, b=["1", "2"], c="") == "/x?b=1&b=2&c="
    assert path_of("/x", a=None) == "/x"


def test_no_other_module_encodes_names_for_druid() -> None:
    root = Path(hivedruid.__file__).parent
    found = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        if re.search(r"urllib\.parse import .*\bquote\b", path.read_text(encoding="utf-8"))
        and "/druid/" in path.read_text(encoding="utf-8").replace("hivedruid/druid/", "")
    }
    assert found == {"druid/paths.py"}
