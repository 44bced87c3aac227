# Everything happens in .venv; nothing needs root. The same targets run in CI.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.PHONY: demo test test-long lint format bench docs lock clean

demo: $(VENV)/.user
	$(BIN)/discreet demo --output build/demo

test: lint
	$(BIN)/python -m pytest -q -n $(WORKERS) -m "not slow"

test-long: $(VENV)/.developer
	$(BIN)/python -m pytest -q -n $(WORKERS)

lint: $(VENV)/.developer
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/.developer
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.developer
	$(BIN)/python -m benchmarks

docs: $(VENV)/.developer
	$(BIN)/python docs/build.py

# What a user needs, and what a developer needs besides. A stamp is written last, so that a
# half-made environment is made again; both are made anew when the dependencies change.
$(VENV)/.user: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[plots]'
	@touch $@

$(VENV)/.developer: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[test]'
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Discreet needs Python 3.11 or newer: make PYTHON=python3.11 ..."; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "Python's venv module is missing. On Debian: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Write the versions that a fresh install finds today.
lock:
	rm -rf build/lock && $(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet --editable '.[test]'
	build/lock/bin/python -m pip freeze --exclude-editable > build/lock/frozen.txt
	{ echo "# Locked by make lock; names no index."; cat build/lock/frozen.txt; } > constraints.txt

clean:
	rm -rf $(VENV) .venvs build .mypy_cache .pytest_cache .ruff_cache .hypothesis
