"""The sources of the facts that are needed to build actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid.catalog.resolution import Names
from hivedruid.catalog.store import Catalog
from hivedruid.engine.engine import DruidEngine
from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from hivedruid.actions.loose_files import LooseFiles
    from hivedruid.catalog.functions import Functions
    from hivedruid.spark.jobs import SparkRunner


@dataclass
class Facts:
    """The sources of facts: the catalog, the names of all catalogs, Druid, the session. `spark` is only used to query
    Iceberg catalogs elsewhere.

    With `plan_only` nothing is executed: if Druid cannot be reached, the catalog alone is used. `with_figures`: read
    the statistics of every table, not only those that choose between plans. `asks_spark`: Spark may be asked for what
    functions in Java return. `loose_files` are the files without a table that the session has read.
    """

    catalog: Catalog
    names: Names
    druid: Callable[[], DruidEngine]
    spark: Callable[[], SparkRunner]
    settings: Mapping[str, str]
    now: datetime
    database: str
    home: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    plan_only: bool = False
    asks_spark: bool = True
    with_figures: bool = False
    temporary_functions: Functions = field(default_factory=dict)
    loose_files: Callable[[], LooseFiles] = field(kw_only=True)
