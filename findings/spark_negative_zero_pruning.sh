#!/usr/bin/env bash
# Spark 4.1.4: -0.0 = 0.0 is true, but a condition `x = 0` misses rows with -0.0 where a file is skipped by its
# statistics: an ORC stripe by its bounds, a Parquet row group by its dictionary. A condition that is not pushed into
# the reader (`x + 0 = 0`) finds them. DuckDB 2.0.1 finds the rows of the same Parquet file with `x = 0`.
#
# Seen: 1000 rows in each file; x = 0: none of ORC, none of Parquet; x + 0 = 0: all; DuckDB: all.
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
seen = {}
for kind in ("orc", "parquet"):
    spark.sql("SELECT CAST('-0.0' AS double) AS x FROM range(1000)").coalesce(1).write.format(kind).save(kind)
    rows = spark.read.format(kind).load(kind)
    seen[kind] = rows.where("x = 0").count(), rows.where("x + 0 = 0").count()
seen["duckdb"] = duckdb.sql("SELECT count(*) FROM 'parquet/*.parquet' WHERE x = 0").fetchall()[0][0]
print(seen)
spark.stop()
assert seen == {"orc": (0, 1000), "parquet": (0, 1000), "duckdb": 1000}, "the behaviour has changed"
PYTHON
