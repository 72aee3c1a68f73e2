#!/usr/bin/env bash
# DuckDB 2.0.1: read_json() gives a column of integers the type HUGEINT as soon as it has both a negative and another
# value, however small: 1 and -1. Each sign alone is BIGINT. COPY to Parquet writes a HUGEINT as DOUBLE, so that a JSON
# file of 64-bit integers of both signs loses digits on its way to Parquet, without an error.
#
# Seen: types BIGINT of 1, 2, BIGINT of -1, -2, HUGEINT of 1, -1; 9007199254740993 beside -1 is 9007199254740992.0 in
# Parquet, and 9007199254740993 beside 1.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'duckdb==2.0.1'
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import duckdb


def type_of(*values):
    with open("x.json", "w") as file:
        file.writelines(f'{{"n": {value}}}\n' for value in values)
    return duckdb.sql("DESCRIBE FROM read_json('x.json')").fetchall()[0][1]


def through_parquet(*values):
    type_of(*values)
    duckdb.sql("COPY (FROM read_json('x.json')) TO 'x.parquet' (FORMAT parquet)")
    return duckdb.sql("SELECT max(n) FROM 'x.parquet'").fetchall()[0][0]


types = type_of(1, 2), type_of(-1, -2), type_of(1, -1)
print(*types)
assert types == ("BIGINT", "BIGINT", "HUGEINT"), "the behaviour has changed"
largest = through_parquet(2**53 + 1, -1), through_parquet(2**53 + 1, 1)
print(*map(repr, largest))
assert list(map(repr, largest)) == ["9007199254740992.0", "9007199254740993"], "the behaviour has changed"
PYTHON
