"""Which engine has which capability is a row of `engine.kinds`, and no other module decides it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import hivedruid
from hivedruid.clients.address import DruidAddress
from hivedruid.clients.cluster import DruidCluster
from hivedruid.embedded.store import EmbeddedStore
from hivedruid.engine import kinds
from hivedruid.engine.capabilities import DeepStorage, KafkaIngestion, Loading, SegmentLists, Tasks
from hivedruid.engine.kinds import (
    CAPABILITIES,
    CLUSTER,
    EMBEDDED_STORE,
    EngineKind,
    find,
    kind_of,
    require,
    session_kind,
)
from hivedruid.errors import UnsupportedError
from hivedruid.session import Session
from hivedruid.setting_types import EMBEDDED

PACKAGE = Path(hivedruid.__file__).parent
OWNERS = ("engine/kinds.py", "setting_types.py")
"""The table itself, and the check of the values of druid.url."""
ENGINES = ("DruidCluster", "EmbeddedStore")


def decisions(source: str) -> Iterator[str]:
    """Where a module asks which engine it has, instead of what the engine can do."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            if any(name in ast.unparse(node.args[1]) for name in ENGINES):
                yield f"line {node.lineno}: {ast.unparse(node)}"
        elif isinstance(node, ast.Compare):
            if any(_is_embedded_url(part) for side in (node.left, *node.comparators) for part in ast.walk(side)):
                yield f"line {node.lineno}: {ast.unparse(node)}"


def _is_embedded_url(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value.startswith(EMBEDDED)
    return (isinstance(node, ast.Name) and node.id == "EMBEDDED") or (
        isinstance(node, ast.Attribute) and node.attr == "EMBEDDED"
    )


def test_no_other_module_asks_which_engine_it_has() -> None:
    found = {
        name: list(decisions(path.read_text(encoding="utf-8")))
        for path in PACKAGE.rglob("*.py")
        if (name := path.relative_to(PACKAGE).as_posix()) not in OWNERS
    }
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "source",
    [
        "assert isinstance(druid, DruidCluster)",
        "isinstance(druid, (int, cluster.DruidCluster))",
        "isinstance(druid, EmbeddedStore)",
        "url == 'embedded:'",
        "EMBEDDED != url.rstrip('/')",
        "url in (settings.EMBEDDED, '')",
    ],
)
def test_such_a_decision_is_found(source: str) -> None:
    assert len(list(decisions(source))) == 1


@pytest.mark.parametrize(("engine", "kind"), [(DruidCluster, CLUSTER), (EmbeddedStore, EMBEDDED_STORE)])
def test_an_engine_implements_exactly_what_its_row_promises(engine: type, kind: EngineKind) -> None:
    assert [c for c in CAPABILITIES if issubclass(engine, c)] == [c for c in CAPABILITIES if kind.has(c)]
    assert set(kind.lacks) <= set(CAPABILITIES)


def test_the_kind_is_found_by_the_url() -> None:
    assert kind_of("embedded:") is kind_of("embedded:/") is session_kind({}) is EMBEDDED_STORE
    assert kind_of("local") is kind_of("http://localhost:8888") is CLUSTER


def test_an_engine_as_a_capability(tmp_path: Path) -> None:
    with Session(tmp_path) as session:
        store = session.druid()
        assert require(store, Loading) is store
        assert require(store, SegmentLists).segments("none") == ()
        assert find(store, DeepStorage) is None
        with pytest.raises(UnsupportedError) as raised:
            require(store, Tasks)
    assert (
        raised.value.message
        == "the statement is not supported: the embedded store does not ingest from Kafka or run tasks"
    )
    assert raised.value.hint == "a Druid cluster is required: run hivedruid local up, or set druid.url to a router"


def test_a_statement_is_refused_if_the_engine_lacks_a_capability(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When it is built, so EXPLAIN refuses it, too."""
    create = "CREATE TABLE t (`__time` TIMESTAMP, a STRING) STORED BY 'druid'"
    with Session(tmp_path) as session:
        run(session, create)
        reader = replace(
            EMBEDDED_STORE, lacks={**EMBEDDED_STORE.lacks, Loading: "is read-only", SegmentLists: "is closed"}
        )
        monkeypatch.setattr(kinds, "KINDS", {EMBEDDED: reader})
        for text in ("INSERT INTO t VALUES (CURRENT_TIMESTAMP, 'x')", "TRUNCATE TABLE t", "DROP TABLE t"):
            for prefix in ("", "EXPLAIN "):
                with pytest.raises(
                    UnsupportedError, match="the statement is not supported: the embedded store is read-only"
                ):
                    run(session, prefix + text)
        with pytest.raises(UnsupportedError, match="the embedded store is closed"):
            run(session, "SHOW SEGMENTS")
        assert run(session, "SELECT a FROM t") == []
        assert run(session, "SHOW TABLES") == [("t",)]


def run(session: Session, text: str) -> list[tuple[object, ...]]:
    (statement,) = session.statements(text)
    return list(session.execute(statement).rows)


def test_an_engine_with_only_some_capabilities_is_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """A statement that needs a missing one is refused before anything is sent: nothing listens at the address."""
    url = "http://127.0.0.1:9"
    only_read = EngineKind(
        "the read-only Druid", {Loading: "stores no rows", KafkaIngestion: "does not ingest from Kafka"}
    )
    monkeypatch.setattr(kinds, "KINDS", {**kinds.KINDS, url: only_read})
    druid = DruidCluster(DruidAddress(url, url, url, url, tries=1), progress=lambda _: None, note=lambda _: None)
    with pytest.raises(UnsupportedError, match="the statement is not supported: the read-only Druid stores no rows"):
        require(druid, Loading)
    assert find(druid, KafkaIngestion) is None
    assert require(druid, Tasks) is druid
    with pytest.raises(
        UnsupportedError, match=r"^SHOW INGESTIONS is not supported: the read-only Druid does not ingest"
    ):
        kind_of(druid.url).check("SHOW INGESTIONS is not supported", Tasks, KafkaIngestion)
