"""The version of hivedruid, and those of the systems that its tests run with."""

from __future__ import annotations

VERSION = "0.1.0"

TESTED = {"Druid": "33.0.0", "Kafka": "4.2.0", "Spark": "4.1.4", "Iceberg": "1.11.0"}
"""Those of the pinned libraries in `local` and `requirements.lock`."""
