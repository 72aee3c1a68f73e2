"""The EXPLAIN of most actions: an operator, named in Hive's style, and its fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hivedruid.actions.model import Action
from hivedruid.lazy_dataclass import dataclass

Fields = list[tuple[str, Any]]
Settings = Mapping[str, str]


@dataclass(frozen=True)
class Explainer:
    """How actions of a family are shown: `lines` as text, `document` as one JSON value. Secrets are shown as stars."""

    lines: Callable[[Action, Settings], list[str]]
    document: Callable[[Action, Settings], dict[str, Any]]


def operator_explainer(describe: Callable[[Action], tuple[str, Fields]]) -> Explainer:
    """An explainer for actions that consist of an operator and its fields."""
    return Explainer(lambda action, _: lines_of(*describe(action)), lambda action, _: document_of(*describe(action)))


def lines_of(operator: str, fields: Fields) -> list[str]:
    """`Stage-0`, the operator and its fields, indented."""
    return ["Stage-0", f"  {operator}:", *_indented(fields, 4)]


def document_of(operator: str, fields: Fields) -> dict[str, Any]:
    """The same as one JSON value."""
    return {"operator": operator, **{key: _plain(value) for key, value in fields if _present(value)}}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, list | tuple) else value


def _present(value: Any) -> bool:
    return value is not None and value != "" and value not in ({}, [], ())


def _indented(fields: Iterable[tuple[str, Any]], depth: int) -> list[str]:
    result: list[str] = []
    blank = " " * depth
    for key, value in fields:
        if not _present(value):
            continue
        if isinstance(value, Mapping):
            result.append(f"{blank}{key}:")
            result += [f"{blank}  {name} {_one_line(_text(item))}" for name, item in value.items()]
        elif isinstance(value, bool):
            result.append(f"{blank}{key}: {str(value).lower()}")
        else:
            text = ", ".join(value) if isinstance(value, list | tuple) else str(value)
            result.append(f"{blank}{key}: {_one_line(text)}")
    return result


def _text(value: Any) -> str:
    """JSON values are shown as they are sent."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _one_line(text: str) -> str:
    return (
        text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r") if "\n" in text or "\r" in text else text
    )
