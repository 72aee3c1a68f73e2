"""Casts of strings in rows have Hive's results in local evaluation and in Druid's expressions."""

from __future__ import annotations

from contextlib import suppress

import pytest

from hivedruid.catalog.types import STRING
from hivedruid.embedded.store import EmbeddedStore
from hivedruid.evaluation.casts import cast
from hivedruid.evaluation.exactness import Unsure
from hivedruid.plan.rex import Ref
from tests.hive.string_casts import PUSHED, cast_of, casts_in_druid, different, string_casts

CASTS = string_casts()


@pytest.mark.parametrize("type_", ["tinyint", "smallint", "int", "bigint", "float", "double", "decimal(38,6)"])
def test_casts_that_are_evaluated_locally(type_: str) -> None:
    convert = cast(cast_of(Ref(STRING, "x"), type_), "UTC")
    values = {}
    for text in CASTS[type_]:
        with suppress(Unsure):  # not a finite number, among others
            values[text] = convert(text)
    assert len(values) >= len(CASTS[type_]) / 2
    assert not different(type_, {text: CASTS[type_][text] for text in values}, values)


@pytest.mark.parametrize("type_", PUSHED)
def test_casts_in_the_embedded_store(store: EmbeddedStore, type_: str) -> None:
    hive = {text: value for text, value in CASTS[type_].items() if "\0" not in text}  # no constants of the store
    assert not different(type_, hive, casts_in_druid(store, type_, hive))
