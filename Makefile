# make run      serve the example vault (a copy of it); make run VAULT=~/Notes serves yours
# make test     all tests
# make nightly  10,000 examples of every property and other long tests, for hours;
#               TESTS=tests/vault runs those only
# make lint     style and types
# make setup    what the others do first by themselves: .venv, packages, the embedding model
# make instructions  write ai_instructions/ anew from their one text
# make reference  write the README's table of settings anew from the settings
# make clean    remove .venv, the copy of the example vault and its data, and all caches
#
# PYTHON=python3.12      the Python to use, 3.11 or newer
# TORCH_INDEX=URL        package index for torch only, such as PyTorch's CPU wheel index
# PORT=8787              the port of make run
# WORKERS=auto           how many tests run at a time

PYTHON ?= python3
TORCH_INDEX ?=
PORT ?= 8787
WORKERS ?= auto
VAULT ?=
TESTS ?= tests

VENV := .venv
BIN := $(VENV)/bin
RUN := .run
INSTALLED := $(VENV)/.installed
DASHBOARD := $(shell find src/dashboard \( -name node_modules -o -name screenshots -o -name __pycache__ \) -prune -o -type f -print)

ifeq ($(strip $(VAULT)),)
SERVED := $(RUN)/vault
SERVE_FLAGS := --data-dir $(RUN)/data
EXAMPLE := $(RUN)/vault
else
SERVED := $(VAULT)
SERVE_FLAGS :=
EXAMPLE :=
endif

# Every start of the daemon would compile its modules anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup model clients run test lint instructions reference clean
.DELETE_ON_ERROR:

setup: model

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Second Brain needs Python 3.11 or newer, but this is" \
	    "$$($(PYTHON) --version 2>/dev/null || echo 'no Python: $(PYTHON)')." \
	    "Name another: make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(INSTALLED): $(BIN)/python pyproject.toml constraints.txt $(DASHBOARD)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet -c constraints.txt \
	  $(if $(TORCH_INDEX),--index-url "$(TORCH_INDEX)") torch
	$(BIN)/python -m pip install --quiet -c constraints.txt --group dev -e .
	@touch $@

# Done in an instant when the model is there.
model: $(INSTALLED)
	@$(BIN)/brain model prepare

# Copied once: what agents and you write into it stays until make clean.
$(RUN)/vault:
	@mkdir -p $(RUN)
	@rm -rf $@.new && cp -R examples/vault $@.new && mv $@.new $@

run: model $(EXAMPLE)
	@exec $(BIN)/brain serve --vault "$(SERVED)" --port $(PORT) $(SERVE_FLAGS)

# The real clients that the tests run: once a machine, done in an instant from then on.
clients: $(INSTALLED)
	@$(BIN)/python tests/clients/npm_clients.py

test: model clients
	$(BIN)/pytest --numprocesses $(WORKERS) --dist loadfile

# What it finds is kept in .hypothesis and tried first the next time.
nightly: model
	HYPOTHESIS_PROFILE=nightly $(BIN)/pytest -m 'hypothesis or nightly' --timeout=0 $(TESTS)

lint: $(INSTALLED)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python src/dashboard/build.py types

instructions: $(INSTALLED)
	@$(BIN)/python -m second_brain.integrations.instructions ai_instructions

reference: $(INSTALLED)
	@$(BIN)/python -m second_brain.config README.md

clean:
	rm -rf $(VENV) $(RUN) src/dashboard/node_modules src/second_brain/server/dashboard
	rm -rf dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
