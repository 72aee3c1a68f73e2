#!/usr/bin/env bash
# Spark 4.1.4: get_json_object() returns SQL's NULL for a null field ($.b), but the text 'null' for a null element of an
# array ($.a[0]), which cannot be told from the string "null" ($.a[1]). So a count of `$.a[0]` counts nulls, and a pair
# of functions that people exchange for each other differs: from_json(), variant_get() and DuckDB 2.0.1's ->> are NULL.
#
# Seen for {"a":[null,"null"],"b":null}: get_json_object $.b None, $.a[0] 'null', $.a[1] 'null'; variant_get $.a[0] None;
# from_json a[0] None; DuckDB None.
set -euo pipefail
command -v java > /dev/null || { echo "requires Java 17"; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'pyspark==4.1.4' 'duckdb==2.0.1'
cd "$folder"
"$folder/venv/bin/python" - 2> log <<'PYTHON' || { grep -E '^[A-Za-z]*Error' log; exit 1; }
import duckdb
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
text = '{"a":[null,"null"],"b":null}'
row = spark.sql(
    "SELECT get_json_object(j, '$.b') AS field, get_json_object(j, '$.a[0]') AS element,"
    " get_json_object(j, '$.a[1]') AS string, variant_get(parse_json(j), '$.a[0]', 'string') AS variant,"
    " from_json(j, 'a array<string>').a[0] AS parsed"
    f" FROM VALUES ('{text}') AS t(j)"
).collect()[0]
seen = {**row.asDict(), "duckdb": duckdb.sql(f"SELECT ('{text}'::JSON) ->> '$.a[0]'").fetchall()[0][0]}
print(seen)
spark.stop()
expected = {"field": None, "element": "null", "string": "null", "variant": None, "parsed": None, "duckdb": None}
assert seen == expected, "the behaviour has changed"
PYTHON
