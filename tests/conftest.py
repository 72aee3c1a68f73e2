"""Shared by all tests: which tests start Spark or a cluster, and the cluster of each process of a run."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

if TYPE_CHECKING:
    from tests.support.cluster import Cluster
    from tests.support.postgres import Postgres
    from tests.support.reference import Confirmed

# A run in the background starts with Ctrl-C ignored, and so would the programs that tests interrupt. A run that is
# terminated must also stop its cluster.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.default_int_handler)

# The same examples in every run; to search for new ones, set HYPOTHESIS_PROFILE=default.
hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

FOLDERS = {
    "spark": {"q", "scripts", "equivalence", "dashboards", "hive", "spark"},
    "cluster": {"equivalence", "integration", "druid37"},
}
"""Marker → the folders whose tests have it; `make check` excludes both."""
FIXTURES = {"topics": "kafka"}
"""Fixture → the marker of the tests that use it."""

LONGEST = (
    "equivalence/test_equivalence", "integration/test_data_sources", "integration/test_problem_repairs",
    "integration/test_foreign_supervisors", "integration/test_ingestion_lifecycle", "integration/test_ingestion_killed",
    "integration/test_ingestion_outages", "integration/test_goldens", "integration/test_spark_standalone",
    "equivalence/test_goldens", "integration/test_ingestion_life", "integration/test_jobs_killed",
    "integration/test_watch", "integration/test_topic_jobs", "integration/test_ingestion_faults",
    "integration/test_segment_queries", "equivalence/test_wrong_answers_of_others", "integration/test_s3",
    "integration/test_local", "integration/test_readme_interrupted", "integration/test_segments_read",
    "integration/test_streams", "integration/test_streams_faults", "integration/test_streams_maintenance",
    "corpus/test_corpus", "unit/spark/test_server", "unit/spark/test_jobs_killed", "unit/spark/test_views_killed",
    "unit/spark/test_archive", "integration/test_kafka_leader_change", "integration/test_kafka_compacted", "integration/test_kafka_tokens",
)  # fmt: skip
"""The modules that take more than 45 seconds. They run first: the processes of a run then end at about the same time."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--references", choices=["confirmed", "check", "update"], default="confirmed",
        help="confirmed: Spark computes the answers that it has not confirmed before; check: all; update: all, and writes the files",
    )  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Each process of a parallel run has its own Spark server, since tests configure the server differently."""
    os.environ["XDG_CONFIG_HOME"] = os.devnull  # no hivedruid.toml of the user
    if hasattr(config, "workerinput"):
        from hivedruid.qtest.sharing import SPARK_HOME, sharing_spark

        os.environ.pop(SPARK_HOME, None)
        sharing = ExitStack()
        sharing.enter_context(sharing_spark())
        config.add_cleanup(sharing.close)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    ranks = {here / f"{module}.py": rank for rank, module in enumerate(LONGEST)}
    for item in items:
        for marker, folders in FOLDERS.items():
            if folders & set(item.path.relative_to(here).parts[:-1]):
                item.add_marker(marker)
        for fixture in FIXTURES.keys() & set(getattr(item, "fixturenames", ())):
            item.add_marker(FIXTURES[fixture])
    items.sort(key=lambda item: ranks.get(item.path, len(ranks)))


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The Druid and Kafka cluster for all tests of this process. Other processes have their own."""
    from tests.support.cluster import running_cluster

    with running_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture(scope="session")
def confirmed_in(request: pytest.FixtureRequest) -> Iterator[Callable[[Path], Confirmed]]:
    """What Spark has confirmed for the tests of a folder, in its file confirmed.txt; see tests/support/reference.py."""
    from tests.support.reference import Confirmed

    mode = request.config.getoption("--references")
    opened: dict[Path, Confirmed] = {}

    def confirmed(folder: Path) -> Confirmed:
        file = folder / "confirmed.txt"
        if file not in opened:
            opened[file] = Confirmed.read(file) if mode == "confirmed" else Confirmed()
        return opened[file]

    yield confirmed
    if mode == "update":
        for file, known in opened.items():
            known.write(file)


@pytest.fixture(scope="module")
def own_spark() -> Iterator[None]:
    """A Spark server for the tests of one module, which need other settings or libraries at its start: the server of
    the other tests keeps running."""
    from hivedruid.qtest.sharing import SPARK_HOME, sharing_spark
    from hivedruid.spark import server

    with pytest.MonkeyPatch.context() as environment:
        environment.delenv(SPARK_HOME, raising=False)
        with sharing_spark():
            yield
            if (known := server.find(Path(os.environ[SPARK_HOME]))) is not None:
                os.kill(known.jvm, signal.SIGKILL)  # at its end it would archive classes, for servers that never come


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """The PostgreSQL server for all tests of this process."""
    from tests.support.postgres import postgres_server

    with postgres_server() as running:
        yield running
