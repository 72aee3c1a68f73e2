# For users: make quickstart and make test. CONTRIBUTING.md describes the other targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
QUICKSTART_HOME := .quickstart
JOBS := 2

.DEFAULT_GOAL := help
.PHONY: help quickstart test check format update-goldens equivalence conformance soak bench lock clean

help:
	@echo "make quickstart      load Wikipedia edits into a Druid table, run queries and show their plans"
	@echo "make test            run all tests"
	@echo "make check           check format, lint, types and import contracts; run the tests without Spark and Druid"
	@echo "make format          format the code"
	@echo "make update-goldens  rewrite tests/q/*.q.out and tests/corpus/queries/*.expected; review the diff"
	@echo "make equivalence     compare random queries on the embedded store and Druid with Spark; N=5000 runs more, HIVE=1 queries Hive"
	@echo "make conformance     plan and run the suites of Calcite and Hive: CASES=folder; PLAN=1 only plans, UPDATE=1 updates"
	@echo "make soak            plan tens of thousands of random statements; N=1000000 runs more; kill a stream at random"
	@echo "                     moments for an hour; run histories of tiered tables on the embedded store for an hour, and"
	@echo "                     on a cluster whose services are killed for another one; MINUTES=5 is shorter"
	@echo "make bench           run the benchmarks on a Druid and Kafka cluster (at least ten minutes)"
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
	@$(BIN)/python -m hivedruid.local.java
	@echo "Downloading 39,244 Wikipedia edits and Spark's libraries for Iceberg and Kafka (72 MB, once) ..."
	@$(BIN)/python -m hivedruid.local.artifacts wikiticker spark > /dev/null
	@$(BIN)/hivedruid spark stop --home $(QUICKSTART_HOME) > /dev/null 2>&1 || true
	@rm -rf $(QUICKSTART_HOME)
	@echo "Running examples/quickstart.q. It prints each statement, its plan (->) and its result. The second statement starts Spark (10 to 60 seconds)."
	@sample=$$($(BIN)/python -m hivedruid.local.samples wikiticker) && \
	$(BIN)/hivedruid sql --verbose --time --home $(QUICKSTART_HOME) --hivevar wikiticker=$$sample -f examples/quickstart.q
	@echo
	@echo "The tables are kept. To continue at a prompt:  $(BIN)/hivedruid --home $(QUICKSTART_HOME)"
	@echo "To print a native query:  $(BIN)/hivedruid sql --home $(QUICKSTART_HOME) -e \"EXPLAIN SELECT channel, sum(added) FROM wiki GROUP BY channel\""
	@echo "Spark keeps running for up to 20 minutes when idle; to stop it now:  $(BIN)/hivedruid spark stop --home $(QUICKSTART_HOME)"

# The quick tests, then those that need Spark, then those that need the real Druid and Kafka. Each is run by two processes,
# which start and stop their own Spark server and their own Druid and Kafka. The tests of a module stay together, in the
# order of tests/conftest.py: the longest modules first.
PYTEST = $(BIN)/python -m pytest --numprocesses $(JOBS) --durations 30 --durations-min 1

# Tests start hundreds of processes, each of which would otherwise compile every module.
test check: export PYTHONDONTWRITEBYTECODE =

test: $(VENV)/.installed-dev
	@$(BIN)/python -m hivedruid.local.java
	@$(PYTEST) --dist worksteal -m "not spark and not cluster"
	@$(PYTEST) --dist loadfile --no-loadscope-reorder -m "spark and not cluster"
	@$(PYTEST) --dist loadfile --no-loadscope-reorder -m cluster

check: $(VENV)/.installed-dev
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache > /dev/null || $(BIN)/lint-imports --no-cache
	@$(PYTEST) --dist worksteal -m "not spark and not cluster"

format: $(VENV)/.installed-dev
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format --quiet .

update-goldens: $(VENV)/.installed-dev
	@$(BIN)/hivedruid test tests/q tests/corpus/ddl --update
	@$(BIN)/python -m tests.corpus

equivalence: $(VENV)/.installed-dev
	@$(if $(HIVE),$(BIN)/python -m tests.hive,HIVEDRUID_EQUIVALENCE=$(or $(N),2000) $(BIN)/python -m pytest tests/equivalence)

# First the page, then the tests of these suites. With PLAN=1 no query is run, UPDATE=1 only writes what the tests expect.
conformance: $(VENV)/.installed-dev
	@test -n "$(CASES)" || { echo "Name the folder of the cases: make conformance CASES=folder"; exit 1; }
	@$(BIN)/python -m hivedruid.local.java
	@$(BIN)/python -m tests.conformance $(if $(PLAN),--plan) $(if $(UPDATE),--update) "$(CASES)"
	@$(if $(UPDATE),,HIVEDRUID_CASES="$(abspath $(CASES))" $(BIN)/python -m pytest $(if $(PLAN),-m "not cluster") tests/conformance/peers/*.py)

soak: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.support.fuzz $$(date +%s) $(or $(N),50000)
	@$(BIN)/python -m tests.support.stream_kills --minutes $(or $(MINUTES),60)
	@$(BIN)/python -m tests.support.tier_histories --seed $$(date +%s) --histories 1000000 --minutes $(or $(MINUTES),60)
	@$(BIN)/python -m tests.support.tier_histories --seed $$(date +%s) --histories 1000000 --minutes $(or $(MINUTES),60) --cluster

bench: $(VENV)/.installed-dev
	@for benchmark in benchmarks/*.py; do PYTHONPATH=. $(BIN)/python $$benchmark || exit 1; done

LOCK = $(BIN)/pip-compile --quiet --generate-hashes --strip-extras --allow-unsafe --no-annotate --no-header \
	--no-emit-index-url --no-emit-find-links --no-emit-trusted-host --upgrade pyproject.toml

lock: $(VENV)/.installed-dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check pip-tools
	@$(LOCK) --output-file requirements.lock
	@$(LOCK) --extra dev --constraint requirements.lock --output-file requirements-dev.lock
	@sed -i '1i # Exact versions with hashes, by make lock.' requirements.lock requirements-dev.lock

clean:
	@rm -rf $(VENV) $(QUICKSTART_HOME) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
