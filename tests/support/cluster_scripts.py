"""The `.q` scripts that also run on a Druid cluster."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

OF_ONE_ENGINE = {
    "refused", "settings", "merge", "row_changes", "row_subqueries", "insert_directory", "load_data", "temporary_tables",
    "druid_intervals", "sketch_columns",
}  # fmt: skip
"""Scripts about refusals of the embedded store, about settings, and those in which a Druid table is only refused; and
about what a cluster does otherwise: it keeps dropped segments, and its sketches have other sizes
(test_retention, test_sketch_writes)."""
USES_DRUID = re.compile(r"STORED BY|TIERED", re.IGNORECASE)


def of_clusters(scripts: Iterable[Path]) -> list[Path]:
    """Those that use Druid tables and have the same results on each engine."""
    return [
        path
        for path in scripts
        if path.stem not in OF_ONE_ENGINE and USES_DRUID.search(path.read_text(encoding="utf-8"))
    ]
