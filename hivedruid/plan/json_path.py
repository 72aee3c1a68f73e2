"""Converts the paths of get_json_object() (UDFJson) to Spark's syntax."""

from __future__ import annotations

import re

from hivedruid.lazy_regex import regex

_KEY = regex(r"[a-zA-Z0-9_\-:\s]+", re.ASCII)
_INDEX = regex(r"\[([0-9]+|\*)\]", re.ASCII)


def spark_path(path: str) -> str | None:
    """The same path for Spark; None if it never matches in Hive.

    Each part between points is a key followed by indexes; anything else is ignored: `$.a['b']` is `$.a`. A point before
    an index has no effect.
    """
    root, *steps = path.replace(".[", "[").split(".")
    result = "$" + _indexes(root)
    if not root.startswith("$") or (len(root) > 1) != (len(result) > 1):
        return None
    for step in steps:
        key = _KEY.match(step)
        if key is None:
            return None
        result += f"['{key[0]}']{_indexes(step)}"
    return result


def _indexes(step: str) -> str:
    return "".join(f"[{index}]" for index in _INDEX.findall(step))


_STEP = regex(r"\['[a-zA-Z0-9_\-:\s]+'\]|\[[0-9]{1,9}\]", re.ASCII)


def is_plain(path: str) -> bool:
    """Whether a path for Spark consists of keys and indexes of single elements, at least one."""
    return re.fullmatch(rf"\$(?:{_STEP.pattern})+", path, re.ASCII) is not None
