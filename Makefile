# Every target needs Python 3.11 or later with venv, and a network; nothing else.
PYTHON ?= python3
BIN := .venv/bin

# `make test ORDER=random`, or ORDER= and a number that was printed, shuffles files and their tests.
ORDER ?=
ORDERED := $(if $(ORDER),--order $(if $(filter random,$(ORDER)),$(shell date +%s),$(ORDER)))
# `make test-more SURVEYS=random` publishes other random surveys than usual, and `SURVEYS=` with the number that
# was printed publishes those again.
SURVEYS ?= 1
SEED := $(if $(filter random,$(SURVEYS)),$(shell date +%s),$(SURVEYS))
# Tests start dozens of programs; without a cache, each would compile all Python modules again.
unexport PYTHONDONTWRITEBYTECODE
PYTEST := $(BIN)/pytest --numprocesses auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder
CORES := $(shell $(PYTHON) -c 'import os; print(min(os.cpu_count() or 1, 4))')

# Tests of what browsers do in their own way (controls, storage, locks, history) run in Firefox, too.
# Those for WebKit are in tests/e2e/test_webkit.py.
IN_FIREFOX = $(patsubst %,tests/e2e/test_%.py,once kinds back complaints memory resume answering)

# The folders of tests and benchmarks are no packages, and names of modules recur, so mypy is called
# for each folder.
TYPED = $(sort $(dir $(shell find tests benchmarks -name '*.py')))
ELSEWHERE = tests:tests/vectors:tests/analysis:tests/e2e:benchmarks

# `make test LOCKED=1` installs what tests/requirements.txt lists, by its hashes, instead of the newest.
LOCKED ?=
RUNTIME := server/deploy/files/requirements.txt
OVER_POSTGRES := server/deploy/files/requirements-postgres.txt
COMPILED = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
  --upgrade --generate-hashes --no-header

.PHONY: demo docs check test test-more mutants bench screenshots lock clean
.NOTPARALLEL:

demo: .venv/.demo
	@$(BIN)/deniable demo

# Checks format, lint and types of the product, and runs the tests nearest to what changed since the last
# commit, but none in a browser.
check: .venv/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	@nearest=$$($(BIN)/python tests/nearest.py) && printf '%s\n' $$nearest | grep -v ^tests/e2e/ | \
	  xargs --no-run-if-empty $(BIN)/pytest -q --exitfirst --no-header

test: .venv/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	MYPYPATH=docs $(BIN)/mypy docs/*.py
	@printf '%s\n' $(TYPED) | xargs -P $(CORES) -I {} sh -c \
	  'told=$$(MYPYPATH={}:$(ELSEWHERE) $(BIN)/mypy {}*.py 2>&1); status=$$?; echo "mypy {}: $$told"; exit $$status'
	$(BIN)/python tests/programs.py chromium headless-shell
	$(PYTEST) $(ORDERED)

# Runs tests that take long, simulate, kill servers, or need other programs, and installs these if it may.
# Each benchmark runs once at its smallest size.
test-more: .venv/.test .venv/.bench
	$(BIN)/python tests/programs.py chromium headless-shell firefox webkit xvfb nginx caddy age \
	  certbot pebble postgresql
	-$(BIN)/python tests/programs.py rscript pspp java node npm
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check 'pyspark>=4'  # 690 MB
	$(PYTEST) $(ORDERED) -m more --surveys $(SEED)
	$(PYTEST) $(ORDERED) --engine firefox -m "more or not more" $(IN_FIREFOX)

# Breaks the trunk in each way that tests/mutants.toml lists, one at a time, and says which breaks no test
# notices. It takes an hour.
mutants: .venv/.test
	$(BIN)/python tests/programs.py chromium headless-shell
	$(BIN)/python tests/mutants.py

# Takes half an hour. It compares accuracy and speed with two published libraries, decoding with RAPPOR's
# own, totals with dp-accounting, plans with simulated surveys, one draw for several questions with
# separate draws, several options and orders with published figures, and the intake with a bare server (by
# wrk). It also measures what commands cost before they begin, how often intervals hold the truth, what
# researchers cost the intake, costs from a thousand to a million reports, and how soon a slow phone can
# use a page, in Chromium. BLAS has one thread, since two are slower on a busy machine.
bench: .venv/.bench
	$(BIN)/python tests/programs.py chromium postgresql
	$(BIN)/python benchmarks/accuracy.py
	$(BIN)/python benchmarks/speed.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/decoding.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/inference/shares.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/inference/totals.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/inference/calibration.py 100
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/inference/number.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/inference/joint.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/inference/regression.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/inference/rare.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/inference/border.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/inference/ranks.py --replications 100
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/inference/penalties.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/inference/designs.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/privacy/composition.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/privacy/ledger.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/privacy/plan.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/together.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/several.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/learning.py --people 3750 37500
	$(BIN)/python benchmarks/planning.py
	$(BIN)/python benchmarks/start.py
	$(BIN)/python benchmarks/editing.py
	$(BIN)/python benchmarks/intake.py
	$(BIN)/python benchmarks/several_collectors.py
	$(BIN)/python benchmarks/settling.py
	$(BIN)/python benchmarks/overload.py
	$(BIN)/python benchmarks/console.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/explore.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/growth.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/recounts.py --reports 10000 1000000
	$(BIN)/python benchmarks/page.py
	$(BIN)/python benchmarks/readability.py

# Takes pictures of every page in every state, on a phone and on a desktop, into the folder screenshots/,
# and those of the README and the tutorial into docs/pictures/.
screenshots: .venv/.test
	$(BIN)/python tests/programs.py chromium
	$(BIN)/python tests/e2e/screenshots.py

# Builds the documentation as a site into the folder site/: index.html can be opened as it is. A link
# that leads nowhere is an error.
docs: .venv/.docs
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -d .venv/doctrees docs site

# Pins the newest releases of everything that the program and its tests need, by their hashes. It also
# lists the licenses of what the program needs, from an environment that has nothing else.
lock: .venv/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(COMPILED) pyproject.toml --extra models --extra formats --output-file $(RUNTIME)
	echo editables | $(COMPILED) pyproject.toml - --extra demo --extra test \
	  --constraint $(RUNTIME) --output-file tests/requirements.txt
	echo 'psycopg[binary]' | $(COMPILED) - --constraint tests/requirements.txt --output-file $(OVER_POSTGRES)
	rm -rf .venv/locked
	$(BIN)/python -m venv .venv/locked
	.venv/locked/bin/python -m pip install --quiet --require-hashes --requirement $(RUNTIME)
	.venv/locked/bin/python tests/licenses.py > docs/licenses.md

clean:
	rm -rf .venv site

# Each extra of pyproject.toml has its own mark, made anew when that file changes.
.venv/.demo .venv/.docs .venv/.test .venv/.bench: .venv/.%: pyproject.toml | $(BIN)/python
	@echo "Installing what make $* needs into .venv; this takes a minute, once."
ifdef LOCKED
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	  --require-hashes --requirement tests/requirements.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	  --no-deps --no-build-isolation --editable .
else
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[demo,$*]'
endif
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "deniable needs Python 3.11 or later; name one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -m venv .venv || \
	  { rm -rf .venv; echo "Python cannot make an environment here. On Debian and Ubuntu run:" >&2; \
	    echo "  sudo apt-get install python3-venv" >&2; exit 1; }
