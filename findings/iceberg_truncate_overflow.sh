#!/usr/bin/env bash
# Iceberg 1.11.0 (with Spark 4.1.4), a table partitioned by truncate(10, i): truncate rounds down, and overflows for
# the smallest INT, whose partition value becomes 2147483646. A condition `i < 0` then skips the partition, so that the
# row is not found, and DELETE leaves it. A condition that is not used for pruning (`CAST(i AS string) LIKE '-%'`)
# finds it.
#
# Seen: 2 rows, with -2147483648 and -5; i < 0 finds 1, LIKE finds 2, and after DELETE … WHERE i < 0 the first one is
# left.
set -euo pipefail
command -v java > /dev/null || { echo "requires Java 17"; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'pyspark==4.1.4'
cd "$folder"
"$folder/venv/bin/python" - 2> log <<'PYTHON' || { grep -E '^[A-Za-z.]*(Error|Exception)' log; exit 1; }
import os

from pyspark.sql import SparkSession

spark = (
    SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    .config("spark.jars.packages", "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0")
    .config("spark.jars.ivy", os.path.abspath("ivy"))
    .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
    .config("spark.sql.catalog.c", "org.apache.iceberg.spark.SparkCatalog")
    .config("spark.sql.catalog.c.type", "hadoop").config("spark.sql.catalog.c.warehouse", "warehouse")
    .getOrCreate()
)
spark.sql("CREATE TABLE c.n.t (i int) USING iceberg PARTITIONED BY (truncate(10, i))")
spark.sql("INSERT INTO c.n.t VALUES (CAST('-2147483648' AS int)), (-5)")
pruned = spark.table("c.n.t").where("i < 0").count()
every = spark.table("c.n.t").where("CAST(i AS string) LIKE '-%'").count()
spark.sql("DELETE FROM c.n.t WHERE i < 0")
left = [row.i for row in spark.table("c.n.t").collect()]
print("i < 0:", pruned, "LIKE '-%':", every, "after DELETE:", left)
spark.stop()
assert (pruned, every, left) == (1, 2, [-2147483648]), "the behaviour has changed"
PYTHON
