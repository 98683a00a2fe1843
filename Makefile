# `make demo` and `make test` do all the set-up on a fresh machine; a second run starts at once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check lint format docs fuzz clean

demo: $(VENV)/.core
	$(BIN)/eigentext demo

test: $(VENV)/.test
	$(BIN)/python -m pytest -q -n auto --dist worksteal

# The quick part: linters, types, the contract of every estimator, examples in docstrings.
check: lint
	$(BIN)/python -m pytest -q -n auto --dist worksteal tests/contract src \
	  tests/test_parameters.py tests/test_estimators.py tests/test_docs.py tests/storage/test_schema.py

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright --level error

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Damaged model files of every format, with bounds checks in kernels: no crash, hang or stray error.
fuzz: $(VENV)/.test
	$(BIN)/python benchmarks/fuzz.py --bounds --mutations 10000

# The pages are in docs/_build/html; a warning is an error.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -q docs docs/_build/html

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "eigentext needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Stamps depend on pyproject.toml, so a changed dependency is installed and an unchanged one is not.
$(VENV)/.core: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[web]"
	@touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	@touch $@ $(VENV)/.core

$(VENV)/.docs: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	@touch $@ $(VENV)/.core

clean:
	rm -rf docs/_build docs/api docs/tutorials $(VENV) .pytest_cache .ruff_cache .hypothesis
