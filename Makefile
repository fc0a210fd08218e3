# `make` alone lists the recipes. Everything is installed in .venv, from the locked versions in requirements/.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
UV     := uv==0.13.8
LOCK   := $(BIN)/uv pip compile --quiet --universal --generate-hashes --python-version 3.11
AUDIT  := pip-audit==2.10.1
ADVICE := https://pypi.org/pypi/pip/25.0/json
NPM    := tests/clients/js/node_modules/.package-lock.json
HAS_BROWSER := { command -v chromium || command -v google-chrome; } >/dev/null
HAS_POSTGRESQL := { command -v initdb || ls /usr/lib/postgresql/*/bin/initdb; } >/dev/null 2>&1

.DEFAULT_GOAL := help
export DEBIAN_FRONTEND := noninteractive
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help run test lint types contracts unit compatibility torture fuzz hostile model audit failover bench bench-postgres bench-growth bench-check format lock npm chromium postgresql clean

help: ## list the recipes
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(VENV)/run.stamp ## start a server, installing it first if need be; ARGS="--port 10002 --data DIR" is passed on
	@$(BIN)/rowkey serve $(ARGS)

test: lint types contracts unit ## check everything: lint, types, contracts and all tests

lint: $(VENV)/test.stamp ## look for mistakes and for code that `make format` would change
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/test.stamp ## check the types
	$(BIN)/mypy

contracts: $(VENV)/test.stamp ## check that each room imports only what it may
	$(BIN)/lint-imports

unit: $(VENV)/test.stamp npm chromium postgresql ## run all tests; ARGS="tests/odata -k filter" chooses some
	$(BIN)/pytest $(ARGS)

compatibility: $(VENV)/test.stamp npm ## write docs/compatibility-matrix.md, from what its tests show
	$(BIN)/pytest --write-compatibility

fuzz: $(VENV)/test.stamp ## fuzz every reader of strangers' bytes; ARGS="--seconds 3600 http filter" chooses time and readers
	@$(BIN)/pip install --quiet --require-hashes -r requirements/fuzz.lock || echo "no atheris here: inputs are random"
	PYTHONPATH=. $(BIN)/python tests/fuzz/run.py $(ARGS)

hostile: $(VENV)/test.stamp ## measure another client's times while 1,000 clients are slow on purpose
	ROWKEY_SLOW_CLIENTS=1000 $(BIN)/pytest -s tests/test_slow_clients.py

model: $(VENV)/test.stamp ## compare the whole service with a model of it, in 100,000 random steps
	ROWKEY_MODEL_STEPS=100000 $(BIN)/pytest -o faulthandler_timeout=7200 tests/test_model.py

torture: $(VENV)/test.stamp ## kill servers, cut the power, damage files and disks: the long forms, half an hour; ARGS="-k power" chooses
	ROWKEY_TORTURE=1 $(BIN)/pytest -s --show-capture=no -o faulthandler_timeout=1800 tests/torture $(ARGS)

audit: $(BIN)/pip ## look for known weaknesses in the locked versions; skipped where PyPI's advisories cannot be asked
	@if $(PYTHON) -c 'import urllib.request as u; assert b"vulnerabilities" in u.urlopen("$(ADVICE)", timeout=10).read()' 2>/dev/null; then \
	    $(BIN)/pip install --quiet $(AUDIT) \
	        && $(BIN)/pip-audit --disable-pip --require-hashes --requirement requirements/run.lock; \
	else \
	    echo "audit: skipped, because $(ADVICE) cannot be asked from here" >&2; \
	fi

failover: $(VENV)/test.stamp postgresql ## kill a PostgreSQL primary under load and promote its standby, twice
	ROWKEY_FAILOVERS=2 $(BIN)/pytest tests/store/postgres/test_failover.py $(ARGS)

bench: $(VENV)/test.stamp $(VENV)/bench.stamp ## measure the speed beside Azurite, floors and itself; ARGS=--quick for a look, ARGS=--write for the docs
	$(BIN)/python bench/run.py $(ARGS)

bench-postgres: $(VENV)/test.stamp postgresql ## measure the PostgreSQL store beside pgbench; ARGS="--only get" chooses
	PYTHONPATH=. $(BIN)/python bench/postgres.py $(ARGS)

bench-growth: $(VENV)/test.stamp $(VENV)/bench.stamp ## measure tables of growing size; ARGS="--sizes 1000 10000000 --write"
	$(BIN)/python bench/growth.py $(ARGS)

bench-check: $(VENV)/test.stamp ## fail where an operation takes more CPU time than bench/expected.json keeps
	$(BIN)/python bench/check.py $(ARGS)

format: $(VENV)/test.stamp ## write the code as the linter likes it
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: $(BIN)/pip ## write the locked versions anew after a change in pyproject.toml; ARGS=--upgrade takes the newest
	$(BIN)/pip install --quiet $(UV)
	$(LOCK) $(ARGS) --group build --extra postgres pyproject.toml --output-file requirements/run.lock
	$(LOCK) $(ARGS) --group build --group test --extra postgres --constraint requirements/run.lock \
	    pyproject.toml --output-file requirements/test.lock
	$(LOCK) $(ARGS) --group fuzz --output-file requirements/fuzz.lock
	$(LOCK) $(ARGS) --group bench --constraint requirements/test.lock --output-file requirements/bench.lock

clean: ## remove what the other recipes made
	rm -rf $(VENV) .clients tests/clients/js/node_modules .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests bench -name __pycache__ -prune -exec rm -rf {} +

# What the recipes stand on. A stamp is younger than the lock file that it was installed from.

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "Rowkey needs Python 3.11 or newer; '$(PYTHON)' is missing or older. Try: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	    echo "'$(PYTHON)' cannot make virtual environments. On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/%.stamp: requirements/%.lock pyproject.toml | $(BIN)/pip
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r $<
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q src  # where Python is told to write no bytecode, each start would compile it all
	@touch $@

# The JavaScript client needs Node.js. Root on Debian installs it; elsewhere its tests are skipped, and say so.
npm:
	@if ! command -v npm >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "npm is missing: installing it with apt-get"; \
	    apt-get update -qq && apt-get install -y -qq --no-install-recommends nodejs npm >/dev/null \
	        || echo "apt-get could not install it" >&2; \
	fi
	@if command -v npm >/dev/null; then \
	    $(MAKE) --no-print-directory $(NPM); \
	else \
	    echo "npm is missing, and could not be installed: the JavaScript tests will be skipped" >&2; \
	fi
	@! command -v node >/dev/null || node -e 'process.exit(process.versions.node.split(".")[0] < 20)' \
	    || echo "Node.js $$(node --version) is too old for the JavaScript tests, which need 20: they will be skipped" >&2

# The tests of CORS need a browser, on the same terms.
chromium:
	@$(HAS_BROWSER) || [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || { \
	    echo "chromium is missing: installing it with apt-get"; \
	    apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null \
	        || echo "apt-get could not install it" >&2; \
	}
	@$(HAS_BROWSER) \
	    || echo "chromium is missing, and could not be installed: the tests in a browser will be skipped" >&2

# The tests of the PostgreSQL store start a server of their own, on the same terms. Debian's package would start one too.
postgresql:
	@$(HAS_POSTGRESQL) || [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || { \
	    echo "PostgreSQL is missing: installing it with apt-get"; \
	    apt-get update -qq && apt-get install -y -qq --no-install-recommends postgresql-common >/dev/null \
	        && sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf \
	        && apt-get install -y -qq --no-install-recommends postgresql >/dev/null \
	        || echo "apt-get could not install it" >&2; \
	}
	@$(HAS_POSTGRESQL) \
	    || echo "PostgreSQL is missing, and could not be installed: the tests of its store will be skipped" >&2

$(NPM): tests/clients/js/package-lock.json
	npm ci --prefix tests/clients/js --no-audit --no-fund
	@touch $@
