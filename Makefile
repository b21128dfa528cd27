# make demo    the main job on the example inside the package
# make test    every check: lint, types, doctests, tests
# make bench   benchmarks with their speed assertions
# make clean   remove the environment and everything else that was made

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# The package is installed, not linked: tests see what a user gets. A changed source installs it anew.
PACKAGES := bounds proofs inference ranking
SOURCES := pyproject.toml README.md LICENSE $(wildcard proofs/coq/*.v) \
    $(shell find $(PACKAGES) -type f -not -path '*/__pycache__/*' -not -path 'proofs/coq/*')

.PHONY: demo test bench clean lint types

demo: $(VENV)/.light
	$(BIN)/pairbounds demo

test: lint types
	$(BIN)/pytest -n 2 --dist worksteal

lint: $(VENV)/.full
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.full
	$(BIN)/mypy

bench: $(VENV)/.full
	$(BIN)/pytest tests/benchmarks --benchmark-only

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .benchmarks
	$(MAKE) --no-print-directory -C proofs/coq clean
	find $(PACKAGES) tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is missing: install Python 3.11 or later (Debian: apt install python3 python3-venv)" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is $$($(PYTHON) -V 2>&1), 3.11 or later is needed: make PYTHON=python3.12 names another" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) has no venv module (Debian: apt install python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.light: $(SOURCES) | $(BIN)/python
	$(PIP) install .
	@touch $@

# Python compiles what is imported when it is; pip would compile 17 000 files first.
$(VENV)/.full: $(SOURCES) | $(BIN)/python
	$(PIP) install --no-compile '.[all]'
	@touch $(VENV)/.light $@
