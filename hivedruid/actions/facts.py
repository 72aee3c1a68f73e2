"""Where the facts that building actions needs come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from hivedruid.catalog.store import Catalog
from hivedruid.engine.engine import DruidEngine


@dataclass
class Facts:
    """Where facts come from: the catalog, Druid, the session.

    With `plan_only` nothing will be executed: where Druid cannot be reached, the catalog has to do. `with_figures`: the
    statistics of every table are wanted, not only where they choose between plans.
    """

    catalog: Catalog
    druid: Callable[[], DruidEngine]
    settings: Mapping[str, str]
    now: datetime
    database: str
    home: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    plan_only: bool = False
    with_figures: bool = False
