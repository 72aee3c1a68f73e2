"""The steps of a plan as a tree, for its pictures: what is computed, by which engine, from which inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, Literal

from hivedruid.lazy_dataclass import dataclass

Engine = Literal["druid", "spark", "hivedruid"]
ENGINES: Mapping[Engine, str] = {"druid": "Druid", "spark": "Spark", "hivedruid": "hivedruid"}
"""The engines with their names. `hivedruid` is this process."""


@dataclass(frozen=True)
class Step:
    """An operator or a write: its engine, its expressions and options by their names, the estimated number of its rows,
    and the steps whose rows it reads."""

    engine: Engine
    operator: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    rows: int | None = None
    inputs: tuple[Step, ...] = ()

    @property
    def estimate(self) -> str:
        """The estimated rows; empty if there is no estimate."""
        return "" if self.rows is None else f"about {self.rows:,} row{'' if self.rows == 1 else 's'}"

    def walk(self) -> Iterator[Step]:
        yield self
        for step in self.inputs:
            yield from step.walk()


def to_document(step: Step) -> dict[str, Any]:
    """A step as EXPLAIN FORMATTED prints it."""
    return {
        "engine": step.engine,
        "operator": step.operator,
        **({"attributes": dict(step.attributes)} if step.attributes else {}),
        **({"rows": step.rows} if step.rows is not None else {}),
        **({"inputs": [to_document(item) for item in step.inputs]} if step.inputs else {}),
    }


def from_document(document: Mapping[str, Any]) -> Step:
    """The step that `to_document` printed."""
    inputs = tuple(from_document(item) for item in document.get("inputs", ()))
    attributes = document.get("attributes", {})
    return Step(document["engine"], document["operator"], attributes, document.get("rows"), inputs)
