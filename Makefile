# Every target sets up what it needs in .venv. A second run starts immediately.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest -q

# Your own settings, which Git ignores, e.g. the line: export EIGENTEXT_DATA := /path/to/corpora
-include local.mk

.PHONY: demo test check lint format interpreted coverage oldest hooks docs fuzz wheel smoke clean

# A tour of words, topics and grammars.
demo: $(VENV)/.core
	$(BIN)/eigentext demo

# All tests.
test: $(VENV)/.test
	$(PYTEST) -n auto --dist worksteal

# The quick part: the linters, the contract of every estimator,
# the parameter tables, the rules of the rooms, the examples in docstrings and pages.
check: lint
	$(PYTEST) -n auto --dist worksteal $(QUICK)

QUICK := src tests/contract tests/storage/test_schema.py tests/test_docs.py tests/test_errors.py \
  tests/test_estimators.py tests/test_import.py tests/test_parameters.py tests/test_project.py \
  tests/test_rooms.py

# Style, imports between rooms, types.
lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/basedpyright --level error

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The tests of compiled loops, run by Python itself: the loops must not depend on the compiler.
interpreted: $(VENV)/.test
	NUMBA_DISABLE_JIT=1 $(PYTEST) -n auto --dist worksteal $(INTERPRETED)

INTERPRETED := $(shell find tests -name 'test_*loops.py') tests/trellis/test_k_best.py tests/matrices \
  tests/factor/test_anchors.py tests/factor/test_mixture.py tests/moments/test_packing.py \
  tests/moments/test_cooccurrence.py

# All tests with a report of the lines that they reach. This is slower than `make test`.
coverage: $(VENV)/.test
	$(PYTEST) -n auto --dist worksteal --cov --cov-report=term --cov-report=html:coverage

# A part of the tests with the oldest supported versions of all dependencies, in its own venv.
# Old versions may use what newer libraries deprecate, so warnings are no errors here.
oldest: $(VENV)-oldest/.test
	$(VENV)-oldest/bin/python -m pytest -q -W default $(OLDEST)

OLDEST := tests/trellis tests/matrices tests/factor tests/moments tests/evaluate tests/linear \
  tests/storage/test_files.py tests/explorer/test_app.py tests/cli/test_main.py \
  tests/cli/test_bad_input.py tests/test_plots.py

# Git hooks with the linters.
hooks: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	$(BIN)/pre-commit install

# Damages model files of every format and loads them. A loop that leaves its array is an error.
fuzz: $(VENV)/.test
	$(BIN)/python benchmarks/fuzz.py --bounds --mutations 10000

# The pages, in docs/_build/html. A warning is an error.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -q docs docs/_build/html

# The files to release, in dist/. The wheel has compiled loops for this version of Python.
wheel: $(VENV)/.core
	$(BIN)/python .ci/ship_loops.py
	$(BIN)/python -m pip install --quiet build
	rm -rf dist
	$(BIN)/python -m build --sdist --wheel --outdir dist . > /dev/null

# What a user does first, with the installed wheel and without the repository.
smoke:
	.ci/smoke

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "eigentext needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# These files mark what is installed. They depend on pyproject.toml, so that pip runs again only
# after a change there.
$(VENV)/.core: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[web]"
	@touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	@touch $@ $(VENV)/.core

$(VENV)/.docs: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	@touch $@ $(VENV)/.core

$(VENV)-oldest/.test: pyproject.toml .ci/oldest.txt
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip install --quiet -c .ci/oldest.txt --editable ".[test]"
	@touch $@

clean:
	rm -rf docs/_build docs/api docs/tutorials build dist coverage .coverage \
	  $(VENV) $(VENV)-oldest .pytest_cache .ruff_cache .hypothesis .import_linter_cache
