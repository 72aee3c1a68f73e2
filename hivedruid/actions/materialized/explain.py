"""EXPLAIN of builds of materialized views."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hivedruid.actions.materialized.model import BuildView, ForgetBuild, MaterializedAction
from hivedruid.actions.model import Action
from hivedruid.actions.operators import Explainer, Fields, document_of, lines_of
from hivedruid.actions.writing.explain import EXPLAINER as WRITING


def _head(action: BuildView) -> list[str]:
    """The first lines of the EXPLAIN of a build."""
    what = "Create Materialized View" if action.creates else "Rebuild Materialized View"
    return ["Stage-1", f"  {what}:", f"    name: {action.table.full_name}", f"    rows: {action.why}"]


def _forget(action: ForgetBuild) -> tuple[str, Fields]:
    job = action.job
    fields = [("job", job.id), ("table", job.full_name), ("state", job.state), ("effect", "the view remains not built")]
    return "Cancel Job Operator", fields


def _lines(action: Action, settings: Mapping[str, str]) -> list[str]:
    assert isinstance(action, MaterializedAction)
    if isinstance(action, ForgetBuild):
        return lines_of(*_forget(action))
    return [*_head(action), *WRITING.lines(action.write, settings)]


def _document(action: Action, settings: Mapping[str, str]) -> dict[str, Any]:
    assert isinstance(action, MaterializedAction)
    if isinstance(action, ForgetBuild):
        return document_of(*_forget(action))
    write = {"action": type(action.write).__name__, **WRITING.document(action.write, settings)}
    return {"rows": action.why, "write": write}


EXPLAINER = Explainer(_lines, _document)
