# Two commands do all the set-up on a machine with only python3 (3.11) and make:
#   make demo     install, run the main job on an embedded example, show what it did
#   make serve    install, start the service with its page on an embedded example: open what it prints in a browser
#   make test     install, pass all tests
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test test-long test-browser test-kubernetes test-postgres test-prometheus test-ray test-wheel serve lint bench docs dist wheel clean

demo: $(VENV)/.installed
	$(BIN)/bayplan demo --out bayplan-demo

serve: $(VENV)/.installed-serve
	$(BIN)/bayplan serve --demo

test: $(VENV)/.installed-dev
	@command -v go >/dev/null && echo "Tests on a real Kubernetes control plane run with: make test-kubernetes" \
	    || echo "No go on the PATH: the tests on a real Kubernetes control plane are skipped"
	@echo "What needs a browser, PostgreSQL or Prometheus is left out here: make test-browser, test-postgres, test-prometheus"
	@echo "Tests on a real Ray cluster of three nodes are left out here: make test-ray; those that take long: make test-long"
	$(BIN)/python -m pytest -n auto

test-long: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n auto -m long

test-browser: $(VENV)/.installed-browser
	$(BIN)/python -m pytest -m browser tests/browser

test-kubernetes: $(VENV)/.installed-kube
	$(BIN)/python -m tests.kubernetes.binary
	$(BIN)/python -m tests.kubernetes.renderers
	BAYPLAN_KUBERNETES=required $(BIN)/python -m pytest -m kubernetes $(AGAIN) tests/kubernetes

test-postgres: $(VENV)/.installed-postgres
	BAYPLAN_POSTGRES=required $(BIN)/python -m pytest -m postgres tests/unit/operate tests/unit/serve tests/contract/test_operated.py

test-prometheus: $(VENV)/.installed-dev
	BAYPLAN_PROMETHEUS=required $(BIN)/python -m pytest -m prometheus tests/unit/deploy tests/kubernetes/test_measurements.py tests/kubernetes/test_measured_commands.py

test-ray: $(VENV)/.installed-ray
	BAYPLAN_RAY=required $(BIN)/python -m pytest -m ray $(AGAIN) tests/contract/test_engines.py tests/on_ray

test-wheel: wheel
	$(BIN)/python -m pytest -m wheel tests/e2e/test_wheel.py

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.installed-ray
	$(BIN)/python -m benchmarks.start
	$(BIN)/python -m benchmarks.run
	$(BIN)/python -m benchmarks.kernel
	$(BIN)/python -m benchmarks.pack
	$(BIN)/python -m benchmarks.admit
	$(BIN)/python -m benchmarks.schedule
	$(BIN)/python -m benchmarks.performance
	$(BIN)/python -m benchmarks.large
	$(BIN)/python -m benchmarks.parts
	$(BIN)/python -m benchmarks.fleet
	$(BIN)/python -m benchmarks.laws
	$(BIN)/python -m benchmarks.engines
	$(BIN)/python -m benchmarks.pricing_engines
	$(BIN)/python -m benchmarks.reading
	$(BIN)/python -m benchmarks.report_page
	$(BIN)/python -m benchmarks.record
	$(BIN)/python -m benchmarks.extender
	$(BIN)/python -m benchmarks.serve
	$(BIN)/python -m benchmarks.serve_page

docs: $(VENV)/.installed-docs
	$(BIN)/python -m docs.generate
	$(BIN)/python -m sphinx -b html -W --keep-going -q docs build/docs

dist: $(VENV)/.installed-dev
	rm -rf dist
	PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(BIN)/python -m build --outdir dist --quiet

wheel: dist
	$(BIN)/python -m release.wheel dist

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) --editable .
	touch $@

$(VENV)/.installed-dev: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) --editable '.[dev,data,graph,kube,serve]'
	touch $@ $(VENV)/.installed

$(VENV)/.installed-serve: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) --editable '.[serve]'
	touch $@ $(VENV)/.installed

$(VENV)/.installed-browser: $(VENV)/.installed-dev
	$(PIP) --editable '.[browser,serve]'
	touch $@

$(VENV)/.installed-postgres: $(VENV)/.installed-dev
	$(PIP) --editable '.[postgres]'
	touch $@

$(VENV)/.installed-kube: $(VENV)/.installed-dev
	$(PIP) --editable '.[kube]'
	touch $@

$(VENV)/.installed-ray: $(VENV)/.installed-dev
	$(PIP) --editable '.[ray]'
	touch $@

$(VENV)/.installed-docs: $(VENV)/.installed-dev
	$(PIP) --editable '.[docs]'
	touch $@

clean:
	rm -rf $(VENV) bayplan-demo build dist
