# Two commands on a fresh machine: `make demo` and `make test`. They need Python 3.11+ and, the
# first time, the Python index; `make test` and `make bench` also Maven Central and a Java.

NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
  $$name -c '$(NEW_ENOUGH)' 2>/dev/null && echo $$name && break; done)
VENV   := .venv
RUN    := $(VENV)/bin/python
LAKE   ?= build/demo-lake
JOBS   ?= 2
KILLS  ?= 200
FUZZ   ?= load
MINUTES ?= 10

# A stamp names what it stands for, so that a changed lock, project file or folder asks again.
LIBRARIES := $(VENV)/ready-$(word 1,$(shell cat requirements.txt | cksum))
SITE      := $(VENV)/site-$(word 1,$(shell cat requirements.txt requirements-docs.txt | cksum))
SPARK     := $(VENV)/spark-$(word 1,$(shell cat requirements.txt requirements-java.txt | cksum))
STORES    := $(VENV)/stores-$(word 1,$(shell cat requirements.txt requirements-stores.txt | cksum))
RELEASE   := $(VENV)/release-$(word 1,$(shell cat requirements-release.txt | cksum))
PACKAGE   := $(VENV)/clwl-$(word 1,$(shell (pwd; cat requirements.txt pyproject.toml) | cksum))

.DEFAULT_GOAL := help
.PHONY: help setup demo quick test platforms soak fuzz bench lint docs release doctor lock clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1 /p' Makefile | while read -r name text; do printf '  make %-9s %s\n' "$$name" "$$text"; done

setup: $(PACKAGE) ## make .venv from the lock and install clwl; nothing of Java

demo: $(PACKAGE) ## a small cluster and its traffic, from texts to report
	@$(VENV)/bin/clwl demo --lake $(LAKE)

quick: $(PACKAGE) $(STORES) ## the tests that need no Java; 15 minutes
	@$(RUN) -m pytest -n $(JOBS) --dist loadscope --no-loadscope-reorder -m "not spark and not java and not platforms"

test: $(SPARK) $(STORES) ## every test, in JOBS processes of up to 6 GB each; 25 to 60 minutes
	@$(RUN) -m pytest -n $(JOBS) --dist loadscope --no-loadscope-reorder

platforms: $(SPARK) $(STORES) ## what needs servers and libraries of data platforms; 20 minutes
	@$(RUN) -m pytest -m platforms tests/platforms

soak: $(SPARK) ## KILLS (200) runs killed at random, by all engines; SEED=n tells them again
	@$(RUN) tests/support/soak.py --kills $(KILLS) $(if $(SEED),--seed $(SEED))

fuzz: $(PACKAGE) ## changed files for MINUTES (10), guided by coverage; FUZZ=ingest for MQSC
	@$(RUN) -c 'import atheris' 2>/dev/null || $(RUN) -m pip install --quiet --disable-pip-version-check atheris==3.0.0
	@mkdir -p build && cd build && PYTHONDONTWRITEBYTECODE=1 ../$(RUN) ../tests/support/fuzz.py $(FUZZ) ../data/samples --seconds $$(($(MINUTES) * 60))

bench: $(SPARK) ## routing side by side with other ways, rules, kernel; 20 minutes
	@$(RUN) benchmarks/run.py

lint: $(PACKAGE) ## ruff, mypy and the rules on imports
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check .
	@$(RUN) -m mypy
	@$(VENV)/bin/lint-imports

docs: $(SITE) ## the documentation's site, into build/site; a broken link fails it
	@NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build # with --quiet, warnings would not fail it

release: $(RELEASE) ## wheel, source distribution and SBOM into dist: the same bytes for a commit
	@rm -rf dist
	@SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(RUN) -m hatchling build
	@$(RELEASE)/bin/python -m cyclonedx_py requirements requirements.txt --pyproject pyproject.toml \
	  --output-reproducible --of JSON -o dist/sbom.cdx.json
	@cd dist && sha256sum * > SHA256SUMS && cat SHA256SUMS

doctor: $(PACKAGE) ## say what is wrong with this machine, if anything
	@$(VENV)/bin/clwl doctor

COMPILE := uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
  --no-annotate --custom-compile-command "make lock" --quiet

lock: ## write the requirements files anew from pyproject.toml; needs uv
	@$(COMPILE) pyproject.toml --extra dev --extra all --output-file requirements.txt
	@sed -n 's/^java = \["\(.*\)"\].*/\1/p' pyproject.toml | $(COMPILE) - --output-file requirements-java.txt
	@sed -n 's/^stores = \["\(.*\)"\].*/\1/p' pyproject.toml | $(COMPILE) - --output-file requirements-stores.txt
	@sed -n 's/^release = \["\(.*\)"\].*/\1/p' pyproject.toml | $(COMPILE) - --output-file requirements-release.txt
	@sed -n '/^docs = \[/,/^\]/s/^ *"\(.*\)",.*/\1/p' pyproject.toml | $(COMPILE) - --constraint requirements.txt --output-file requirements-docs.txt

clean: ## remove .venv and everything that was built
	@rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(PACKAGE): $(LIBRARIES)
	@$(RUN) -m pip install --quiet --no-deps --no-build-isolation --no-index --editable .
	@rm -f $(VENV)/clwl-[0-9]*
	@touch $@

$(SITE): $(PACKAGE)
	@$(RUN) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-docs.txt
	@rm -f $(VENV)/site-[0-9]*
	@touch $@

$(SPARK): $(PACKAGE)
	@$(RUN) -m clwl_spark.spark.runtime || { \
	  $(RUN) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-java.txt && \
	  $(RUN) -m clwl_spark.spark.runtime; }
	@rm -f $(VENV)/spark-[0-9]*
	@touch $@

$(STORES): $(PACKAGE)
	@$(RUN) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-stores.txt
	@rm -f $(VENV)/stores-[0-9]*
	@touch $@

$(RELEASE): $(PACKAGE)
	@rm -rf $(VENV)/release-[0-9]*
	@$(PYTHON) -m venv --clear $(VENV)/new-release
	@$(VENV)/new-release/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-release.txt
	@mv $(VENV)/new-release $@

$(LIBRARIES):
	@test -n "$(PYTHON)" && $(PYTHON) -c '$(NEW_ENOUGH)' || { \
	  echo "clwl needs Python 3.11 or newer; found none, or an older one: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; }
	@$(RUN) -c '' 2>/dev/null || $(PYTHON) -m venv --clear $(VENV)
	@echo "installing the libraries of requirements.txt into $(VENV); a few minutes, once"
	@$(RUN) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	@rm -f $(VENV)/ready-[0-9]*
	@touch $@
