# Both first commands work from a fresh clone with nothing but Python 3.11 or newer.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
EXAMPLE := examples/qwen3-next-w4afp8

.PHONY: demo test unit lint examples clean
.DEFAULT_GOAL := demo

## demo: check the example checkpoint without and with its policy
demo: $(VENV)/.core
	@echo "== qpolicy check $(EXAMPLE)/checkpoint"
	@$(BIN)/qpolicy check $(EXAMPLE)/checkpoint || test $$? -eq 1
	@echo
	@echo "== qpolicy check $(EXAMPLE)/checkpoint --policy $(EXAMPLE)/model.qpolicy"
	@$(BIN)/qpolicy check $(EXAMPLE)/checkpoint --policy $(EXAMPLE)/model.qpolicy

## test: everything, the installed SGLang included (downloads about 6 GB once)
test: lint $(VENV)/.engine
	QPOLICY_REQUIRE_ENGINE=1 $(BIN)/python -m pytest -n 2

## unit: the tests that need no engine and no files from elsewhere
unit: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 -m "not engine and not corpus"

## lint: style, types and the layering of the rooms
lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

## examples: write the example checkpoints again
examples: $(VENV)/.dev
	$(BIN)/python examples/make_examples.py

clean:
	rm -rf $(VENV) build dist

$(VENV)/.core: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e .
	touch $@

$(VENV)/.dev: $(VENV)/.core
	$(PIP) -e ".[dev]"
	touch $@

$(VENV)/.engine: $(VENV)/.dev requirements/engine-torch.txt requirements/engine-nodeps.txt requirements/engine.txt
	$(PIP) -r requirements/engine-torch.txt
	$(PIP) --no-deps -r requirements/engine-nodeps.txt
	$(PIP) -r requirements/engine.txt
	touch $@
