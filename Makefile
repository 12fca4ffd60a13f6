# Everything a fresh machine needs is Python 3.11 and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: app test lint docs bench fuzz clean

app: $(VENV)/.installed
	$(BIN)/fairdash app

# Two at a time, since the browser tests mostly wait.
test: $(VENV)/.installed-dev
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --no-loadscope-reorder

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Damaged files and configurations, then all that are crafted; `make fuzz TIMES=200` for
# four times as many damaged ones.
TIMES ?= 50
fuzz: $(VENV)/.installed-dev
	FAIRDASH_FUZZ=$(TIMES) $(BIN)/python -m pytest -x --timeout 0 \
	  -k "ends_in_no_other_error or crafted" tests/datasets/test_awkward_files.py \
	  tests/sweep/test_spec.py tests/crafted tests/jobs/test_crafted_bundles.py

# The website of docs/, in build/site; a warning is an error.
docs: $(VENV)/.installed-dev
	$(BIN)/mkdocs build --strict --quiet --config-file docs/deploy/mkdocs.yml

bench: $(VENV)/.installed-dev
	for script in benchmarks/bench_*.py benchmarks/server/bench_*.py benchmarks/individual/bench_*.py; do $(BIN)/python $$script || exit 1; done

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
