#!/usr/bin/env bash
# pyiceberg 0.12.0 on an Iceberg table that is partitioned by a DOUBLE column (identity): an append of rows in which the
# column is 0.0 in some and -0.0 in others writes each of these rows twice. pyarrow groups the two zeros as two values,
# and compares them as equal when it selects the rows of a partition.
#
# Seen: 2 rows appended, 4 rows read.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'pyiceberg[sql-sqlite,pyarrow]==0.12.0' 'pyarrow==26.0.1'
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import DoubleType, LongType, NestedField

catalog = SqlCatalog("c", uri="sqlite:///catalog.db", warehouse="file://.")
catalog.create_namespace("n")
schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "x", DoubleType()))
spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "x"))
table = catalog.create_table("n.t", schema, partition_spec=spec)
table.append(pa.table({"id": [1, 2], "x": [0.0, -0.0]}))
rows = sorted((row["id"], str(row["x"])) for row in table.scan().to_arrow().to_pylist())
print(len(rows), "rows of 2:", rows)
assert len(rows) == 4, "the behaviour has changed"
PYTHON
