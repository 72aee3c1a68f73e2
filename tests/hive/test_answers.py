"""The results of hivedruid on Spark equal Hive's: the translation cannot be its own reference.

`make equivalence HIVE=1` runs Hive again.
"""

from __future__ import annotations

from pathlib import Path

from hivedruid.spark import session
from tests.hive.answers import differences, kept

SETTINGS = {
    "spark.sql.codegen.wholeStage": "false",  # computing one row is faster than compiling code for it
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}


def test_every_expression_has_hives_answer(tmp_path: Path) -> None:
    found = differences(session.session(SETTINGS, tmp_path), kept())
    session.release_all()
    assert not found, f"{len(found)} differ:\n" + "\n".join(found[:40])
