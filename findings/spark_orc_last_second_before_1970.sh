#!/usr/bin/env bash
# orc-core 2.2 (in pyspark 4.1.4) writes a TIMESTAMP of the last second before 1970 with a fraction of at least a
# millisecond, and reads it one second later. Times of the second before and of the second after are exact.
#
# Seen: 1969-12-31 23:59:59.5 is read as 1970-01-01 00:00:00.5.
set -euo pipefail
command -v java > /dev/null || { echo "requires Java 17"; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'pyspark==4.1.4'
cd "$folder"
"$folder/venv/bin/python" - 2> log <<'PYTHON' || { grep -E '^[A-Za-z]*Error' log; exit 1; }
from pyspark.sql import SparkSession

spark = (
    SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    .config("spark.sql.session.timeZone", "UTC").config("spark.driver.extraJavaOptions", "-Duser.timezone=UTC")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")
times = ["1969-12-31 23:59:58.5", "1969-12-31 23:59:59.5", "1970-01-01 00:00:00.5"]
spark.createDataFrame([(t,) for t in times], "t string").selectExpr("t", "CAST(t AS timestamp) AS x").write.orc("orc")
read = {row.t: row.x for row in spark.read.orc("orc").selectExpr("t", "CAST(x AS string) AS x").collect()}
print(read)
spark.stop()
assert read == {times[0]: times[0], times[1]: times[2], times[2]: times[2]}, "the behaviour has changed"
PYTHON
