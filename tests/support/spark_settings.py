"""Settings with which Spark computes a few rows in two thirds of the CPU time.

Spark compiles code for the stages of a job, and plans again after each stage: both take longer than a few rows. The
goldens of `tests/q` and `tests/scripts` and most tests of `tests/unit/spark` run with Spark's defaults, as users do.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

FEW_ROWS = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}
"""For references, and for statements that other tests run with Spark's defaults."""


@pytest.fixture(scope="session", autouse=True)
def spark_of_few_rows() -> Iterator[None]:
    """These settings are the defaults of the Spark servers that tests start, from the first test of a folder that
    imports this fixture on."""
    from hivedruid.spark import launch

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(launch, "STATIC", {**launch.STATIC, **FEW_ROWS})
        yield
