"""The plugin of SQLAlchemy's suite, for this dialect. It is loaded by name, so that other tests do not have it."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy.dialects import registry

registry.register("hivedruid.hivedruid", "hivedruid.sqlalchemy_dialect", "HiveDialect")
pytest.register_assert_rewrite("sqlalchemy.testing.assertions")

from sqlalchemy.testing import provision  # noqa: E402
from sqlalchemy.testing.plugin.pytestplugin import *  # noqa: E402, F403


@provision.temp_table_keyword_args.for_db("hivedruid")  # type: ignore[untyped-decorator]
def _temporary(config: Any, engine: Any) -> dict[str, Any]:
    return {"prefixes": ["TEMPORARY"]}
