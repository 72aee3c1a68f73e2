"""The rejects tables of Kafka tables, in the catalog."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hivedruid.catalog.named_locks import named_locks
from hivedruid.catalog.store import Catalog
from hivedruid.catalog.table import Table
from hivedruid.tables.rejects import check_takes_rejects, new_rejects, rejects_name


class RejectsTables:
    """The rejects tables of one home."""

    def __init__(self, home: Path, catalog: Catalog) -> None:
        self._home = home
        self._catalog = catalog

    def find(self, table: Table) -> Table | None:
        """The rejects table of a Kafka table; None if it has none, or it is not created yet. Raises SemanticError."""
        name = rejects_name(table)
        found = self._catalog.find(*name) if name is not None else None
        if found is not None:
            check_takes_rejects(found, table.properties["kafka.topic"])
        return found

    @contextmanager
    def opened(self, table: Table) -> Iterator[Table]:
        """The rejects table of a Kafka table that has one, which is created if it does not exist. One block of the home
        runs at a time, so that it can add the records that the table does not have. It has written the table."""
        name = rejects_name(table)
        assert name is not None
        with named_locks(self._home, self._catalog).exclusive("rejects", patience=math.inf):
            found = self.find(table) or self._catalog.add(new_rejects(*name))
            yield found
            if not found.is_written:
                self._catalog.mark_written(found, written=True)
