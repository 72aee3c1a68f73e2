# For users: make quickstart and make test. CONTRIBUTING.md describes the other targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
QUICKSTART_HOME := .quickstart
QUICK_JOBS := 3
JOBS := 2
CLUSTER_JOBS := 3

.DEFAULT_GOAL := help
.PHONY: help quickstart test check docs format update-goldens update-references equivalence conformance druid37 druid37-cluster suites soak bench wheel lock clean

help:
	@echo "make quickstart      load Wikipedia edits into a Druid table, run queries and show their plans"
	@echo "make test            run all tests"
	@echo "make check           check format, lint, types and import contracts; run the tests without Spark and Druid"
	@echo "make docs            build the documentation as a site in build/site"
	@echo "make format          format the code"
	@echo "make update-goldens  rewrite tests/q/*.q.out, tests/corpus/queries/*.expected and man/*.1; review the diff"
	@echo "make update-references  compute all references on Spark, and write the digests of the answers that it confirms"
	@echo "make equivalence     compare random queries on the embedded store and Druid with Spark; N=5000 runs more, HIVE=1 queries Hive"
	@echo "make conformance     plan and run the suites of Calcite and Hive: CASES=folder; PLAN=1 only plans, UPDATE=1 updates"
	@echo "make druid37         run the native queries of the corpus on Druid 37's engine: TOOL=folder; UPDATE=1 updates; N=600"
	@echo "                     compares random queries on it, the embedded store and Spark instead, SWEEP=1 every operator"
	@echo "make druid37-cluster run the tests of a cluster that need neither Kafka nor Druid's SQL on a Druid 37: TOOL=folder;"
	@echo "                     FORMAT=10 lets its tasks write segments of version 10"
	@echo "make suites          run queries of the suites of Drill, Druid, Impala, Spark and SQLite's sqllogictest: FOLDER=folder;"
	@echo "                     N=1000 is a smaller sample of the last one, SEED=7 another one; SPARK=1 runs what needs Spark, too"
	@echo "make soak            plan tens of thousands of random statements; N=1000000 runs more; compute all references;"
	@echo "                     SQLAlchemy's suite of dialects; kill jobs at every moment, of which make test chooses every"
	@echo "                     third one; run all scripts on a Spark cluster, and break it; kill a stream at random"
	@echo "                     moments for an hour; run histories of tiered tables on the embedded store for an hour, and"
	@echo "                     on a cluster whose services are killed for another one; MINUTES=5 is shorter"
	@echo "make bench           run the benchmarks on a Druid and Kafka cluster (at least ten minutes)"
	@echo "make wheel           build the wheel in dist/, for pip install"
	@echo "make lock            update the pinned dependencies"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "hivedruid needs Python 3.11 or later; $(PYTHON) is $$($(PYTHON) --version 2>&1). Use another interpreter: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml requirements.lock | $(BIN)/python
	@echo "Installing hivedruid into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

$(VENV)/.installed-dev: requirements-dev.lock $(VENV)/.installed
	@echo "Installing the development tools ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements-dev.lock
	@touch $@

quickstart: $(VENV)/.installed
	@$(BIN)/hivedruid spark stop --home $(QUICKSTART_HOME) > /dev/null 2>&1 || true
	@rm -rf $(QUICKSTART_HOME)
	@echo "Running hivedruid demo. It prints each statement, its plan (->) and its result."
	@$(BIN)/hivedruid demo --no-prompt --home $(QUICKSTART_HOME)
	@echo "To print a native query:  $(BIN)/hivedruid sql --home $(QUICKSTART_HOME) -e \"EXPLAIN SELECT channel, sum(added) FROM wiki GROUP BY channel\""

# The quick tests, then those that need Spark, then those that need the real Druid and Kafka. Each is run by two or three
# processes, which start and stop their own Spark server and their own Druid and Kafka: tests of a cluster wait for half of
# the time. A process needs 5 GB then. The tests of a module stay together, in the order of tests/conftest.py: the longest
# modules first. The jars are downloaded, if they are not in the cache, while the quick tests run.
GROUPS := spark druid kafka
PYTEST = $(BIN)/python -m pytest --durations 30 --durations-min 1 --numprocesses

# Tests start hundreds of processes, each of which would otherwise compile every module.
test check: export PYTHONDONTWRITEBYTECODE =

test: $(VENV)/.installed-dev
	@$(BIN)/python -m hivedruid.local.java
	@$(BIN)/python -m hivedruid.local.artifacts $(GROUPS) > /dev/null 2>&1 &
	@$(PYTEST) $(QUICK_JOBS) --dist worksteal -m "not spark and not cluster"
	@$(PYTEST) $(JOBS) --dist loadfile --no-loadscope-reorder -m "spark and not cluster"
	@$(PYTEST) $(CLUSTER_JOBS) --dist loadfile --no-loadscope-reorder -m cluster tests/equivalence tests/integration

check: $(VENV)/.installed-dev
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache > /dev/null || $(BIN)/lint-imports --no-cache
	@$(PYTEST) $(QUICK_JOBS) --dist worksteal -m "not spark and not cluster"

# tests/unit/test_docs_site.py builds it, too.
docs: $(VENV)/.installed-dev
	@NO_MKDOCS_2_WARNING=1 PYTHONPATH=. $(BIN)/python -m mkdocs build --quiet
	@echo "The first page is build/site/index.html."

format: $(VENV)/.installed-dev
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format --quiet .

update-goldens: $(VENV)/.installed-dev
	@$(BIN)/hivedruid test tests/q tests/corpus/ddl --update
	@$(BIN)/python -m tests.corpus
	@$(BIN)/python -m tests.support.manual

# The tests that use a confirmed.txt.
REFERENCES := tests/equivalence tests/corpus tests/dashboards tests/unit/spark/test_analysed.py

update-references: $(VENV)/.installed-dev
	@$(BIN)/python -m pytest --references update $(REFERENCES)

equivalence: $(VENV)/.installed-dev
	@$(if $(HIVE),$(BIN)/python -m tests.hive,HIVEDRUID_EQUIVALENCE=$(or $(N),2000) $(BIN)/python -m pytest --references check tests/equivalence)

# First the page, then the tests of these suites. With PLAN=1 no query is run, UPDATE=1 only writes what the tests expect.
conformance: $(VENV)/.installed-dev
	@test -n "$(CASES)" || { echo "Name the folder of the cases: make conformance CASES=folder"; exit 1; }
	@$(BIN)/python -m hivedruid.local.java
	@$(BIN)/python -m tests.conformance $(if $(PLAN),--plan) $(if $(UPDATE),--update) "$(CASES)"
	@$(if $(UPDATE),,HIVEDRUID_CASES="$(abspath $(CASES))" $(BIN)/python -m pytest $(if $(PLAN),-m "not cluster") tests/conformance/peers/*.py)

# TOOL has the program that tests/druid37 describes; it is not part of the project.
druid37: $(VENV)/.installed-dev
	@test -n "$(TOOL)" || { echo "Name the folder of the program: make druid37 TOOL=folder"; exit 1; }
	@$(BIN)/python -m tests.druid37 "$(TOOL)" $(if $(UPDATE),--update) $(if $(N),--random $(N)) $(if $(SEED),--seed $(SEED)) $(if $(SWEEP),--sweep)

# TOOL has the program that tests/druid37/cluster.py describes; it is not part of the project.
druid37-cluster: export HIVEDRUID_TEST_DRUID37 = $(abspath $(TOOL))
druid37-cluster: export HIVEDRUID_TEST_SEGMENT_FORMAT = $(FORMAT)
druid37-cluster: $(VENV)/.installed-dev
	@test -n "$(TOOL)" || { echo "Name the folder of the program: make druid37-cluster TOOL=folder"; exit 1; }
	@$(PYTEST) $(JOBS) --dist loadfile --no-loadscope-reorder -m "cluster and not kafka and not local and not sketches" \
		tests/equivalence tests/integration tests/druid37/running.py

# FOLDER has the suites that no registry has (docs/suites.md). The jars with the others are downloaded.
suites: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.suites $(if $(FOLDER),"$(FOLDER)") $(if $(N),--sample $(N)) $(if $(SEED),--seed $(SEED)) $(if $(SPARK),--spark)

soak: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.support.fuzz $$(date +%s) $(or $(N),50000)
	@$(BIN)/python -m pytest --references check $(REFERENCES)
	@$(BIN)/python -m tests.dialect
	@$(BIN)/python -m tests.support.pruned_tables $$(date +%s) 10
	@HIVEDRUID_KILL_EVERY=1 $(BIN)/python -m pytest -k killed tests/integration tests/unit/spark
	@$(BIN)/python -m tests.support.spark_elsewhere --mode connect
	@$(BIN)/python -m tests.support.spark_elsewhere --mode standalone
	@$(BIN)/python -m tests.support.spark_matrix --mode connect
	@$(BIN)/python -m tests.support.spark_matrix --mode standalone
	@$(BIN)/python -m tests.support.spark_faults --mode connect
	@$(BIN)/python -m tests.support.spark_faults --mode standalone
	@$(BIN)/python -m tests.support.slow_ingestions
	@$(BIN)/python -m tests.support.stream_kills --minutes $(or $(MINUTES),60)
	@$(BIN)/python -m tests.support.tier_histories --seed $$(date +%s) --histories 1000000 --minutes $(or $(MINUTES),60)
	@$(BIN)/python -m tests.support.tier_histories --seed $$(date +%s) --histories 1000000 --minutes $(or $(MINUTES),60) --cluster

bench: $(VENV)/.installed-dev
	@for benchmark in $(filter-out benchmarks/everyday.py,$(wildcard benchmarks/*.py)); do PYTHONPATH=. $(BIN)/python $$benchmark || exit 1; done

LOCK = $(BIN)/pip-compile --quiet --generate-hashes --strip-extras --allow-unsafe --no-annotate --no-header \
	--no-emit-index-url --no-emit-find-links --no-emit-trusted-host --upgrade pyproject.toml

wheel: $(BIN)/python
	@$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	@ls dist/*.whl

lock: $(VENV)/.installed-dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check pip-tools
	@$(LOCK) --output-file requirements.lock
	@$(LOCK) --extra dev --constraint requirements.lock --output-file requirements-dev.lock
	@sed -i '1i # Exact versions with hashes, by make lock.' requirements.lock requirements-dev.lock

clean:
	@rm -rf $(VENV) $(QUICKSTART_HOME) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
