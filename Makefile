# Everything a fresh machine needs is Python 3.11 and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: app test test-thorough test-all test-packaging test-oldest lint docs bench coverage fuzz clean

app: $(VENV)/.installed
	$(BIN)/fairdash app

# Three at a time on two cores, since the browser and the engine mostly wait. Many tests
# start an interpreter: modules are compiled once, whatever the environment says.
TEST := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 3 --no-loadscope-reorder

# Every claim; of those with many cases, a sample: see CONTRIBUTING.md.
test: $(VENV)/.installed-dev
	$(TEST) -m "not packaging and not thorough"

# The cases beyond the sample.
test-thorough: $(VENV)/.installed-dev
	$(TEST) -m "thorough and not packaging"

# Every claim by all of its cases, as .ci/run tries them.
test-all: test test-thorough

# What a wheel brings, what type checkers see in it, and what the website shows. It
# changes seldom and takes long.
test-packaging: $(VENV)/.installed-dev
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m packaging tests/cli/test_wheel.py \
	  tests/test_docs.py

# The core alone, on the oldest versions that pyproject.toml declares.
OLDEST := build/oldest
test-oldest: $(OLDEST)/.installed
	OMP_NUM_THREADS=1 $(OLDEST)/bin/python -m pytest --noconftest -p no:cacheprovider \
	  tests/core tests/analysis/test_find_subgroups.py tests/datasets/test_split.py \
	  tests/metrics/test_decisions.py tests/metrics/test_intervals.py \
	  tests/postprocessing/test_kernels.py tests/postprocessing/test_rules.py

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

# About three minutes: does every kind of statement hold as often as it says?
coverage: $(VENV)/.installed-dev
	mkdir -p build
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/coverage.py --check --draws 150 \
	  --part intervals gaps --results build/coverage.jsonl
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/coverage.py --check --draws 60 \
	  --part verdicts searches --results build/coverage.jsonl
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/coverage.py --check --designs --draws 40

# Every claim of speed, as a paired ratio; on an idle machine, QUICK=--quick for less.
bench: $(VENV)/.installed-dev
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/claims.py $(QUICK)

# Every file that is installed has a hash in requirements; `--no-deps`, since all that is
# needed is listed there. PyTorch's build for CPUs where pip finds it, else the other.
INSTALL := -m pip install --quiet --no-deps
HASHED := $(INSTALL) --require-hashes
EDITABLE := $(INSTALL) --no-build-isolation --editable .

$(VENV)/.installed: pyproject.toml $(wildcard requirements/*.txt)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(HASHED) -r requirements/torch-cpu.txt 2>/dev/null \
	  || $(BIN)/python $(HASHED) -r requirements/torch.txt
	$(BIN)/python $(HASHED) -r requirements/app.txt
	$(BIN)/python $(EDITABLE)
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python $(HASHED) -r requirements/dev.txt
	touch $@

$(OLDEST)/.installed: pyproject.toml requirements/oldest.txt
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python $(HASHED) -r requirements/oldest.txt
	$(OLDEST)/bin/python $(EDITABLE)
	touch $@

clean:
	rm -rf $(VENV) $(OLDEST) .mypy_cache .ruff_cache .pytest_cache
