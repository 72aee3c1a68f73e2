"""What the catalog stores of databases besides names and comments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, field
from typing import TYPE_CHECKING, Literal

from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from hivedruid.catalog.store import Catalog

OwnerType = Literal["USER", "ROLE", "GROUP"]


@dataclass(frozen=True)
class DatabaseDetails:
    """The clauses of CREATE and ALTER DATABASE, which are stored and shown. External tables without LOCATION are in
    folders of `location`; `uses_iceberg`: the tables are those of the Iceberg catalog that the properties describe. The
    others have no effect."""

    location: str = ""
    managed_location: str = ""
    owner: str = ""
    owner_type: OwnerType | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    uses_iceberg: bool = False


NO_DETAILS = DatabaseDetails()


def details_of(catalog: Catalog, name: str) -> DatabaseDetails:
    row = catalog.connection.execute("SELECT details FROM databases WHERE name = ?", (name,)).fetchone()
    return DatabaseDetails(**json.loads(row[0])) if row is not None else NO_DETAILS


def set_details(catalog: Catalog, name: str, details: DatabaseDetails) -> None:
    with catalog.transaction() as connection:
        connection.execute("UPDATE databases SET details = ? WHERE name = ?", (json.dumps(asdict(details)), name))
