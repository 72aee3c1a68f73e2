# Two commands for everybody: make quickstart, make test. CONTRIBUTING.md has the others.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
QUICKSTART_HOME := .quickstart

.DEFAULT_GOAL := help
.PHONY: help quickstart test check format update-goldens equivalence conformance bench lock clean

help:
	@echo "make quickstart      real Wikipedia edits into a Druid table, queries and their plans"
	@echo "make test            every test"
	@echo "make check           format, lint, types, import contracts, the tests without Spark and Druid"
	@echo "make format          format the code"
	@echo "make update-goldens  rewrite tests/q/*.q.out; the diff is the review"
	@echo "make equivalence     random queries, pushed (embedded, real Druid) against Spark: N=5000 for more"
	@echo "make conformance     the queries of Calcite's and Hive's own tests, planned and run: CASES=folder, PLAN=1, UPDATE=1"
	@echo "make bench           the benchmarks, with a real Druid and Kafka: ten minutes and more"
	@echo "make lock            pin the dependencies anew"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "hivedruid needs Python 3.11 or later; $(PYTHON) is $$($(PYTHON) --version 2>&1). Name another one: make PYTHON=python3.12 ..."; exit 1; }
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
	@$(BIN)/python -m hivedruid.local.artifacts wikiticker iceberg > /dev/null
	@rm -rf $(QUICKSTART_HOME)
	@sample=$$($(BIN)/python -m hivedruid.local.samples wikiticker) && \
	$(BIN)/hivedruid sql --home $(QUICKSTART_HOME) --hivevar wikiticker=$$sample -f examples/wikiticker.q --time
	@echo
	@echo "The table is still there:  $(BIN)/hivedruid --home $(QUICKSTART_HOME)"
	@echo "Spark stays warm for the next job, 20 minutes at most; to end it now:  $(BIN)/hivedruid spark stop --home $(QUICKSTART_HOME)"

# The quick half, then what needs Spark, then what needs the real Druid and Kafka, which that run starts and stops.
test: $(VENV)/.installed-dev
	@$(BIN)/python -m hivedruid.local.java
	@$(BIN)/python -m pytest -m "not spark and not cluster"
	@$(BIN)/python -m pytest -m "spark and not cluster"
	@$(BIN)/python -m pytest -m cluster

check: $(VENV)/.installed-dev
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache > /dev/null || $(BIN)/lint-imports --no-cache
	@$(BIN)/python -m pytest -m "not spark and not cluster"

format: $(VENV)/.installed-dev
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format --quiet .

update-goldens: $(VENV)/.installed-dev
	@$(BIN)/hivedruid test tests/q --update

equivalence: $(VENV)/.installed-dev
	@HIVEDRUID_EQUIVALENCE=$(or $(N),2000) $(BIN)/python -m pytest tests/equivalence

# The page goes to stdout; with PLAN=1 nothing is run, with UPDATE=1 the expectations of the tests are written anew, too.
conformance: $(VENV)/.installed-dev
	@$(BIN)/python -m hivedruid.local.java
	@$(BIN)/python -m tests.conformance $(if $(PLAN),--plan) $(if $(UPDATE),--update) $(CASES)

bench: $(VENV)/.installed-dev
	@for benchmark in benchmarks/*.py; do $(BIN)/python $$benchmark || exit 1; done

LOCK = $(BIN)/pip-compile --quiet --generate-hashes --strip-extras --allow-unsafe --no-annotate --no-header \
	--no-emit-index-url --no-emit-find-links --no-emit-trusted-host --upgrade pyproject.toml

lock: $(VENV)/.installed-dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check pip-tools
	@$(LOCK) --output-file requirements.lock
	@$(LOCK) --extra dev --constraint requirements.lock --output-file requirements-dev.lock
	@sed -i '1i # Exact versions with hashes, by make lock.' requirements.lock requirements-dev.lock

clean:
	@rm -rf $(VENV) $(QUICKSTART_HOME) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
