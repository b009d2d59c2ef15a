# Everything from a bare Debian with Python 3.11: `make demo` and `make test` set up what they need.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CLASSES := $(VENV)/java_classes.jsa
ARGS ?=

# Root on Debian may install packages; others are told what to install.
CAN_APT = [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null
APT_INSTALL = DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends

.PHONY: help setup demo check test versions lint bench clean java

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) java ## create the environment; install Java if it is missing and we are root

demo: $(STAMP) java ## a guided tour on a local PostgreSQL and a local Spark
	@$(BIN)/pgstream demo

check: $(STAMP) java lint $(CLASSES) ## the daily round: lint, unit tests, one end-to-end smoke test per room
	@echo "==> pytest: units, smokes"
	@$(BIN)/python -m pytest --quiet --numprocesses 2 --dist loadfile tests/unit
	@$(BIN)/python -m pytest --quiet -m smoke tests/e2e

# Three at a time on two cores: a test waits for PostgreSQL, for Spark or for a worker's tick now and
# then, and each Java holds 1 GB at most.
test: $(STAMP) java lint $(CLASSES) ## lint, then all tests, three at a time; ARGS="..." goes to pytest
	@echo "==> pytest"
	@$(BIN)/python -m pytest $(or $(ARGS),--numprocesses 3 --dist loadfile --no-loadscope-reorder --durations 40)

versions: $(STAMP) java $(CLASSES) ## capture's tests on PostgreSQL 15, 16 and 17, where they can be had
	@for version in 15 16 17; do \
		echo "==> PostgreSQL $$version"; \
		$(BIN)/python tests/other_postgres.py $$version --quiet $(or $(ARGS),tests/postgres/capture tests/e2e/test_ddl.py tests/e2e/test_wal.py); \
	done

lint: $(STAMP) ## style, format, types and import directions
	@echo "==> ruff check"
	@$(BIN)/ruff check --quiet .
	@echo "==> ruff format --check"
	@$(BIN)/ruff format --quiet --check . || { echo "Run '$(BIN)/ruff format .' to format."; exit 1; }
	@echo "==> mypy --strict src"
	@$(BIN)/mypy --strict --no-error-summary src
	@echo "==> lint-imports"
	@out=$$($(BIN)/lint-imports 2>&1) || { echo "$$out"; exit 1; }

bench: $(STAMP) java ## the benchmarks
	@$(BIN)/pgstream bench $(ARGS)

clean: ## remove the environment, builds and caches
	@echo "==> clean"
	@rm -rf $(VENV) build dist src/*.egg-info .hypothesis .import_linter_cache .mypy_cache \
		.pytest_cache .ruff_cache spark-warehouse metastore_db derby.log
	@find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@python=; \
	for candidate in python3 python3.11 python3.12 python3.13; do \
		if $$candidate -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			python=$$candidate; break; \
		fi; \
	done; \
	if [ -z "$$python" ]; then \
		echo "pgstream needs Python 3.11 or newer; $$(python3 --version 2>&1 || true) is what python3 gives." >&2; \
		exit 1; \
	fi; \
	if ! $$python -c 'import ensurepip, venv' 2>/dev/null; then \
		if $(CAN_APT); then \
			echo "==> install python3-venv"; \
			apt-get update -qq && $(APT_INSTALL) python3-venv >/dev/null; \
		else \
			echo "Python's venv module is missing. On Debian: apt-get install python3-venv" >&2; \
			exit 1; \
		fi; \
	fi; \
	echo "==> create $(VENV) with $$($$python --version)"; \
	$$python -m venv $(VENV)

$(STAMP): pyproject.toml constraints.txt | $(BIN)/python
	@echo "==> install pgstream and its dependencies (some minutes the first time)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
		-e '.[dev]' -c constraints.txt
	@touch $@

$(CLASSES): $(STAMP) tests/java_classes.py | java
	@echo "==> archive the classes of Java, for the tests"
	@out=$$($(BIN)/python tests/java_classes.py $@ 2>&1) || { echo "$$out"; exit 1; }

# Spark 4 runs on Java 17 or newer: the one of JAVA_HOME, else the one on the PATH.
java:
	@java_major() { \
		"$${JAVA_HOME:+$$JAVA_HOME/bin/}java" -version 2>&1 \
			| sed -n 's/.*version "\([0-9]*\).*/\1/p' || true; \
	}; \
	found=$$(java_major); \
	if [ "$${found:-0}" -ge 17 ]; then exit 0; fi; \
	if [ -z "$${JAVA_HOME:-}" ] && $(CAN_APT); then \
		echo "==> install Java"; \
		apt-get update -qq; \
		mkdir -p /usr/share/man/man1; \
		$(APT_INSTALL) openjdk-17-jre-headless >/dev/null \
			|| $(APT_INSTALL) openjdk-21-jre-headless >/dev/null; \
		found=$$(java_major); \
	fi; \
	if [ "$${found:-0}" -lt 17 ]; then \
		echo "Spark needs Java 17 or newer; found: $${found:-none}." >&2; \
		echo "On Debian: apt-get install openjdk-17-jre-headless. Then check JAVA_HOME and PATH." >&2; \
		exit 1; \
	fi
