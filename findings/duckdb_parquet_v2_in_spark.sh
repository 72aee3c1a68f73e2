#!/usr/bin/env bash
# DuckDB 2.0.1 with PARQUET_VERSION V2 chooses the encoding BYTE_STREAM_SPLIT for a DOUBLE column whose values do not
# repeat. Spark 4.1.4 refuses this encoding in its default, vectorized reader; with
# spark.sql.parquet.enableVectorizedReader=false it reads the same file.
#
# Seen: encodings of column x: BYTE_STREAM_SPLIT; vectorized: an UnsupportedOperationException; by rows: the sum
# 499500.0.
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

duckdb.sql("COPY (SELECT CAST(i AS double) AS x FROM range(1000) r(i)) TO 'x.parquet' (FORMAT parquet, PARQUET_VERSION 'V2')")
encodings = duckdb.sql("SELECT encodings FROM parquet_metadata('x.parquet')").fetchall()[0][0]
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
spark.sparkContext.setLogLevel("OFF")
try:
    vectorized = spark.read.parquet("x.parquet").selectExpr("sum(x)").collect()[0][0]
except Exception as error:
    vectorized = next(line for line in str(error).splitlines() if "Unsupported" in line).strip()
spark.conf.set("spark.sql.parquet.enableVectorizedReader", "false")
by_rows = spark.read.parquet("x.parquet").selectExpr("sum(x)").collect()[0][0]
print("encodings:", encodings)
print("vectorized:", vectorized)
print("by rows:", by_rows)
spark.stop()
assert "BYTE_STREAM_SPLIT" in encodings and "BYTE_STREAM_SPLIT" in str(vectorized) and by_rows == 499500.0, "the behaviour has changed"
PYTHON
