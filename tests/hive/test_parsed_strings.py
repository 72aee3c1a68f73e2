"""unix_timestamp() of strings in rows has Hive's results in local evaluation and in Druid's expressions."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC

import pytest

from hivedruid.catalog.types import BIGINT
from hivedruid.embedded.store import EmbeddedStore
from hivedruid.evaluation.exactness import Unsure
from hivedruid.evaluation.times import unix_timestamp
from tests.hive.parsed_strings import PUSHED, local_patterns, parsed_strings, parsed_with
from tests.hive.string_casts import computed_in_druid

STRINGS = parsed_strings()


@pytest.mark.parametrize("pattern", local_patterns(STRINGS))
def test_strings_that_are_parsed_locally(pattern: str) -> None:
    parse = unix_timestamp(parsed_with(pattern), UTC)
    values = {}
    for text in STRINGS[pattern]:
        with suppress(Unsure):  # before 1583, or after 9999
            values[text] = parse(text, pattern)
    assert values
    assert values == {text: STRINGS[pattern][text] for text in values}


@pytest.mark.parametrize("pattern", PUSHED)
def test_strings_that_the_embedded_store_parses(store: EmbeddedStore, pattern: str) -> None:
    assert computed_in_druid(store, parsed_with(pattern), BIGINT, STRINGS[pattern]) == STRINGS[pattern]
