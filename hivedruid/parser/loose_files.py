"""Files without a table: `FROM 'orders.csv'`. Hive has no strings in FROM."""

from __future__ import annotations

import os
import re

from sqlglot import exp

from hivedruid.catalog.table import LOOSE_FILES
from hivedruid.script import SourceStatement

FOLDER = "folder"
"""The key in `meta`."""


def with_loose_files(source: SourceStatement, tree: exp.Expression) -> None:
    """Mark the tables of a query whose names are strings, in place: `db` is LOOSE_FILES, and `meta` has the folder that
    a relative path starts from."""
    if "'" not in source.text and '"' not in source.text:
        return
    folder = folder_of(source)
    for table in tree.find_all(exp.Table):
        name = table.this
        if not isinstance(name, exp.Identifier) or table.args.get("db"):
            continue
        start = name.meta.get("start")
        if start is not None and source.text[start : start + 1] in ("'", '"'):
            table.set("db", exp.Identifier(this=LOOSE_FILES, quoted=True))
            table.meta[FOLDER] = folder


def folder_of(source: SourceStatement) -> str:
    """The folder that relative paths start from; empty for the current one."""
    return os.path.dirname(source.file) if source.file else ""  # noqa: PTH120


def stem(path: str) -> str:
    """The name of a table for a file, which is also its alias: `orders` for `data/orders.csv.gz`."""
    name = path.replace("\\", "/").rstrip("/").rpartition("/")[2].partition(".")[0]
    name = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").lower()
    return name if name and not name[0].isdigit() else f"t_{name}".rstrip("_")
