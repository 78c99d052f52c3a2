# `make run` needs Python 3.11 and nothing else; the other targets say what they need.

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell scripts/find-python)
PORT ?= 8000
export PORT
# Most tests wait for servers that they start: two at a time on two cores.
TEST_WORKERS ?= 2
NO_DATABASE := bus domain outbound providers tools wire
# Drills of what no web server has a part in.
NO_WEB_DRILLS := any_order embedded kills mixed plans sentinel services upstreams
# How often ``make drill`` does each fault, and how many mixes of them.
N ?= 1
PYTEST := $(BIN)/python -m pytest -n $(TEST_WORKERS) --dist worksteal

.PHONY: help run test check fix docs js js-check js-test lock install deps browser node bench services fuzz test-postgres test-uvicorn drill run-scale

help: ## Show this list
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

run: $(VENV)/.run-stamp ## Install, migrate, make what a first start needs, and serve
	@$(BIN)/python manage.py setup
	@exec $(BIN)/python manage.py serve

run-scale: $(VENV)/.run-stamp ## PostgreSQL, Redis, two web processes, two workers and nginx
	@exec scripts/run-scale

test: deps check js-check js-test ## Everything: lint, the browser source's tests, then pytest
	@$(MAKE) --no-print-directory test-postgres
	@$(MAKE) --no-print-directory test-uvicorn
	@$(PYTEST)

test-postgres: deps ## Every test that may touch a database, on PostgreSQL
	@$(BIN)/python -m tests.fakes.postgres \
		$(PYTEST) -m "not browser and not model" \
		$(addprefix --ignore tests/,contract drill $(NO_DATABASE))

test-uvicorn: deps ## Every live test but the browser's, on uvicorn
	@LANTERN_TEST_SERVER=uvicorn \
		$(PYTEST) -m "live and not browser and not model" \
		$(addprefix --ignore tests/drill/test_,$(addsuffix .py,$(NO_WEB_DRILLS)))

check: $(VENV)/.dev-stamp ## Format, lint, types, import directions, sizes
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy lantern_site sessions_app widget
	@PYTHONPATH=. $(BIN)/lint-imports --no-cache
	@$(BIN)/python -m pytest -q -p no:randomly tests/contract/test_sizes.py

fix: $(VENV)/.dev-stamp ## Let ruff mend what it can
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

fuzz: $(VENV)/.dev-stamp ## Guided bytes for the parsers of answers, until you stop it
	@mkdir -p var/fuzz
	@$(BIN)/python -m tests.providers.fuzz var/fuzz -max_len=4096 -artifact_prefix=var/

drill: deps ## Do every fault, N times, to an installation of several processes
	@LANTERN_DRILLS=$(N) $(BIN)/python -m pytest tests/drill

js: node ## Build the browser files into static/
	@npm --prefix widget/js run build

js-check: node ## Types of the browser source
	@npm --prefix sdk/typescript run --silent check
	@npm --prefix widget/js run --silent check

js-test: node browser ## Tests of the browser source
	@npm --prefix sdk/typescript run --silent test
	@npm --prefix widget/js run --silent test
	@npm --prefix widget/js run --silent test:browser

docs: $(VENV)/.run-stamp ## Write the generated pages of docs/reference
	@$(BIN)/python manage.py reference

lock: $(VENV)/.dev-stamp ## Compile requirements*.txt from pyproject.toml
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/uv pip compile --quiet --universal --no-header --no-emit-index-url \
		pyproject.toml -o requirements.txt
	@$(BIN)/uv pip compile --quiet --universal --no-header --no-emit-index-url \
		--extra dev pyproject.toml -o requirements-dev.txt

install: $(VENV)/.run-stamp ## What the server needs, and no more

deps: $(VENV)/.dev-stamp browser node services ## All that the tests need

browser:
	@scripts/need-chromium

services:
	@scripts/need-postgres
	@scripts/need-redis
	@scripts/need-proxies
	@scripts/need-faketime
	@scripts/need-php
	@scripts/need-ruby

node: widget/js/node_modules/.stamp sdk/typescript/node_modules/.stamp tests/servers/node_modules/.stamp

%/node_modules/.stamp: %/package-lock.json
	@scripts/need-node
	@npm --prefix $* ci --no-audit --no-fund --loglevel=error
	@touch $@

bench: $(VENV)/.run-stamp ## Measure beside other servers, as bench/README.md says
	@sh bench/run.sh

$(BIN)/python:
	@scripts/make-venv "$(PYTHON)" $(VENV)

$(VENV)/.run-stamp: requirements.txt | $(BIN)/python
	@echo "Installing…"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

$(VENV)/.dev-stamp: requirements-dev.txt requirements.txt | $(BIN)/python
	@echo "Installing for development…"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $(VENV)/.run-stamp $@
