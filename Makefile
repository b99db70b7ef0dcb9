# The two commands of a newcomer: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV_VERSION := 0.13.9
PIP_AUDIT_VERSION := 2.10.1
BASE := $(VENV)/.installed-base
STAMP := $(VENV)/.installed
# Where the demonstration keeps its data, even where a folder above holds a knowledge base.
HERE = RAG_HOME="$${RAG_HOME:-$(CURDIR)}"

COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header --group build

.PHONY: demo dev extras test check format docs lock audit clean help

help: ## show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or later is needed: make PYTHON=python3.12 demo"; exit 1; }
	@echo "Creating $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)

$(BASE): requirements.lock pyproject.toml | $(BIN)/python
	@echo "Installing the locked dependencies (about 250 MB at first) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes -r requirements.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

$(STAMP): requirements-dev.lock $(BASE)
	@echo "Installing every optional part and the tools of the tests (about 400 MB more at first) ..."
	@$(BIN)/uv pip sync --quiet --compile-bytecode --python $(BIN)/python --require-hashes requirements-dev.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(BASE) ## sync samples/, search in two languages, one cited answer
	@$(HERE) $(BIN)/rag demo

dev: $(BASE) ## Dagster's UI on the same data
	@$(HERE) $(BIN)/dagster dev -m rag_pipeline.definitions

extras: $(STAMP) ## install every optional part: Office files, services, object stores

test: $(STAMP) ## the tests
	@$(BIN)/python -m pytest -n 2 --dist worksteal

check: $(STAMP) ## lint, format, types, import contract
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(STAMP) ## format and mend what can be mended
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: $(STAMP) ## renew the tables in docs/ that are made from the code
	@$(BIN)/python -m rag_pipeline.console.setting_reference
	@$(BIN)/python -m rag_pipeline.cli.command_reference

lock: | $(BIN)/python ## renew both lock files; what the tests run with is what a demo gets
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@$(COMPILE) --upgrade --group dev --all-extras pyproject.toml --output-file requirements-dev.lock
	@$(COMPILE) --constraint requirements-dev.lock pyproject.toml --output-file requirements.lock

audit: | $(BIN)/python ## known vulnerabilities of the locked packages; asks PyPI's advisory service
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@$(BIN)/uv tool run --quiet --from pip-audit==$(PIP_AUDIT_VERSION) pip-audit --strict --disable-pip \
		--require-hashes --progress-spinner off --requirement requirements-dev.lock

clean: ## remove caches; the data in .rag/ and .dagster/ stays
	@rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
