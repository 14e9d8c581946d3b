# Every target sets up .venv by itself. PYTHON picks the interpreter it is made from: make test PYTHON=python3.12
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PY := $(BIN)/python
STAMP := $(VENV)/.stamp
ARGS ?=

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help jq demo test lint format types docs docs-check accept bench fuzz prove prove-frameworks smoke check clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "hookport needs Python 3.11 or newer, and '$(PYTHON)' is not. Try: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "'$(PYTHON)' has no venv module. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@echo "==> setting up $(VENV) (a minute, once)"
	@$(PYTHON) -m venv $(VENV)
	@$(PY) -m pip install -qq --disable-pip-version-check -e '.[dev]'
	@touch $@

# The guard of the demo, like most in the wild, uses jq; tests that need it are skipped where it cannot be had.
jq:
	@command -v jq >/dev/null || { echo "==> installing jq"; \
		apt-get install -qq -y jq >/dev/null 2>&1 || { apt-get update -qq && apt-get install -qq -y jq; } >/dev/null 2>&1 \
		|| sudo -n apt-get install -qq -y jq >/dev/null 2>&1 || echo "jq could not be installed" >&2; }

demo: $(STAMP) jq ## run one guard for every agent, convert it to each, and see what became of it
	@$(PY) examples/demo.py $(ARGS)

test: $(STAMP) jq ## run the tests (ARGS="-k laws" to choose)
	@echo "==> pytest"
	@$(PY) -m pytest $(ARGS)

lint: $(STAMP) ## check style, format and import layers
	@echo "==> ruff check"
	@$(PY) -m ruff check --quiet
	@echo "==> ruff format --check"
	@$(PY) -m ruff format --check --quiet || { echo "Not formatted. Try: make format" >&2; exit 1; }
	@echo "==> lint-imports"
	@out=$$($(BIN)/lint-imports --no-logo --no-cache 2>&1) || { echo "$$out" >&2; exit 1; }

format: $(STAMP) ## format the code and apply the safe fixes
	@$(PY) -m ruff check --fix-only --quiet
	@$(PY) -m ruff format --quiet

types: $(STAMP) ## check the types
	@echo "==> mypy"
	@$(PY) -m mypy

docs: $(STAMP) ## regenerate the generated pages
	@$(PY) docs/generate.py

docs-check: $(STAMP)
	@echo "==> docs/generate.py --check"
	@$(PY) docs/generate.py --check

accept: $(STAMP) ## rewrite the goldens with what the code does now; read the diff
	@$(PY) -m pytest -n0 --accept $(ARGS)

bench: $(STAMP) ## measure conversions and dispatches, as ratios to a bare interpreter
	@$(PY) bench/run.py $(ARGS)

fuzz: $(STAMP) ## search for counterexamples, for long, and run every case of every test
	@HYPOTHESIS_PROFILE=fuzz $(PY) -m pytest tests/fuzz.py $(ARGS)
	@$(PY) -m pytest -m "long or not long" $(ARGS)

prove: $(STAMP) jq ## play every agent on its pinned version, and keep the results (ARGS="codex" to choose)
	@$(BIN)/hookport prove --install --save --report build/prove $(ARGS)
	@$(PY) -m tests.adopt build/prove
	@$(PY) docs/generate.py

prove-frameworks: $(STAMP) ## run every adapter in its real framework, and keep the results (ARGS="agno" to choose)
	@$(PY) -m tests.frameworks.prove --install --save $(ARGS)
	@$(PY) docs/generate.py

# One scenario on agents that were fetched before; none is fetched here, and what is skipped is named. These start in
# a second or two, and have each kind of file: JSON by event, JSON of a plugin, TOML, and two sorts of modules.
SMOKE := claude-code codex goose grok-build opencode pi
smoke: $(STAMP)
	@echo "==> hookport prove --cached"
	@$(BIN)/hookport prove $(SMOKE) --cached --mode bridge --scenario peers-guard 2>&1

# The types take one core for half a minute, so the quick checks run beside them.
check: $(STAMP) ## everything above that only reads, as CI runs it
	@$(MAKE) --no-print-directory types & types=$$!; \
		$(MAKE) --no-print-directory lint docs-check smoke; rest=$$?; wait $$types && exit $$rest
	@$(MAKE) --no-print-directory test

clean: ## remove .venv and what the tools leave behind
	@rm -rf $(VENV) build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find bench docs examples src tests -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
