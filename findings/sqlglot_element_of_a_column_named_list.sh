#!/usr/bin/env bash
# sqlglot 30.30.0, dialects hive, spark and duckdb: an element of a column that is named `list` or `array` becomes a
# constructor of an array, and the column is gone, also if the name is qualified or quoted. The text that sqlglot writes
# for the tree has another meaning.
#
# Seen: t.list[0] -> LIST(0), `array`[0] -> ARRAY(0), both without a column; t.items[0] stays.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'sqlglot==30.30.0'
"$folder/venv/bin/python" - <<'PYTHON'
import sqlglot
from sqlglot import exp

seen = {}
for dialect in ("hive", "spark", "duckdb"):
    for text in ("t.list[0]", '"array"[0]' if dialect == "duckdb" else "`array`[0]", "t.items[0]"):
        tree = sqlglot.parse_one(f"SELECT {text} FROM t", read=dialect)
        columns = [column.name for column in tree.find_all(exp.Column)]
        seen[dialect, text] = tree.selects[0].sql(dialect), columns
        print(dialect, text, "->", *seen[dialect, text])
assert seen["hive", "t.list[0]"] == ("LIST(0)", []), "the behaviour has changed"
assert seen["hive", "`array`[0]"] == ("ARRAY(0)", []), "the behaviour has changed"
assert seen["hive", "t.items[0]"] == ("t.items[0]", ["items"]), "the behaviour has changed"
PYTHON
