"""What modules build at the first use can be built: all classes and patterns of the package."""

from __future__ import annotations

import dataclasses
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

import hivedruid
from hivedruid.lazy_regex import regex


def values() -> Iterator[Any]:
    """What the modules of the package define."""
    for found in pkgutil.walk_packages(hivedruid.__path__, "hivedruid."):
        if found.name != "hivedruid.superset" or find_spec("superset"):
            yield from vars(import_module(found.name)).values()


def test_every_class_and_every_pattern_can_be_built() -> None:
    classes = patterns = 0
    for value in values():
        if isinstance(value, type) and dataclasses.is_dataclass(value):  # builds the methods
            assert dataclasses.fields(value) is not None
            assert callable(value.__repr__)
            with pytest.raises(TypeError, match="unexpected keyword argument"):  # compiles `__init__`
                value.__init__(object(), **{"no field": 1})
            classes += 1
        elif isinstance(value, type(regex(""))):
            assert value.pattern
            patterns += 1
    assert classes > 500
    assert patterns > 50
