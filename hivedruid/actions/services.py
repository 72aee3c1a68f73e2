"""The services that actions use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hivedruid.catalog.named_locks import NamedLocks, named_locks
from hivedruid.catalog.store import Catalog
from hivedruid.engine.kinds import require
from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from hivedruid.catalog.functions import UserFunction
    from hivedruid.catalog.metastore import Metastore
    from hivedruid.catalogs import Catalogs
    from hivedruid.engine.engine import DruidEngine
    from hivedruid.parser.macros import Macro
    from hivedruid.spark.jobs import SparkRunner

C = TypeVar("C")


@dataclass
class Services:
    """The services that actions use. `druid` and `spark` are called only when needed; the callbacks change the session.

    `catalogs` are that of the home and the Hive metastore. `macros` and `functions` are the temporary ones of the
    session. `place` names its engine as recorded by `catalog/places.py`. `note` shows a note, `info` reports what was
    done, and `confirm` asks the user for confirmation.
    """

    home: Path
    catalog: Catalog
    catalogs: Catalogs
    druid: Callable[[], DruidEngine]
    spark: Callable[[], SparkRunner]
    use_database: Callable[[str], None]
    change_setting: Callable[[str, str], None]
    reset_setting: Callable[[str | None], None]
    macros: dict[str, Macro]
    functions: dict[tuple[str, str], UserFunction]
    zone: Callable[[], str]
    place: Callable[[], str]
    query_context: Callable[[], Mapping[str, Any]]
    settings: Mapping[str, str]
    note: Callable[[str], None]
    info: Callable[[str], None]
    confirm: Callable[[str], bool]

    def setting(self, key: str) -> str:
        return self.settings[key]

    @property
    def locks(self) -> NamedLocks:
        """The locks between all processes that use the catalog."""
        return named_locks(self.home, self.catalog)

    @property
    def metastore(self) -> Metastore:
        """The Hive metastore of the tables that are in one."""
        metastore = self.catalogs.names.metastore
        assert metastore is not None
        return metastore

    def engine(self, capability: type[C]) -> C:
        """The session's engine as a capability. Raises UnsupportedError if it does not have it."""
        return require(self.druid(), capability)
