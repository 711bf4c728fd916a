# The tasks of gwa. Each works as the first command in a fresh clone: what it needs is set up first.

SAMPLES := $(notdir $(patsubst %/,%,$(wildcard sample_traces/*/)))
BIN := .venv/bin

# Without byte code each of the many short-lived programs in the tests compiles its imports anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo quick test rest whole tests-of-test tests-of-whole slow campaign browser coverage lint types format messages lock bench ratios big growth instructions fidelity \
    leaderboard calibration minh generation clean setup site spark thesis pictures surface reference docs dist oldest release
.DELETE_ON_ERROR:

help: ## list these tasks
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1	\2/p' Makefile | expand -t 18

demo: $(SAMPLES:%=demo-%) ## convert every sample trace and write its report into build/demo/
	@echo "The reports, to open in a browser:"
	@find build/demo -name '*.html' | sort | sed 's/^/  /'

# A sample's folder holds its source, sometimes a description of its system, and what it must become.
source = $(filter-out %/expected.gwf %/system.toml %/README.md,$(wildcard sample_traces/$*/*))
system = $(addprefix --system ,$(wildcard sample_traces/$*/system.toml))

demo-%: .venv/ready
	@mkdir -p build/demo/$*
	$(BIN)/gwa convert $(strip $(source) $(system)) -o build/demo/$*/$*.gwf
	$(BIN)/gwa report build/demo/$*/$*.gwf --html -o build/demo/$*

# Which tests a suite runs says tests/reach/choice.py. make test WORKERS=8 uses more cores.
WORKERS := 2
suite = GWA_SUITE=$(@:tests-of-%=%) $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m "not slow"
# Types take a minute of one core where nothing is kept of an earlier check, so the tests run beside them.
beside = $(MAKE) --no-print-directory --jobs=3 lint types tests-of-$@

quick: lint types .venv/tests ## a minute: check style and types, run the short tests that the change reaches
	$(suite)

test: .venv/tests ## ten minutes: style, types, all short tests, the long ones that the change reaches
	+$(beside)

rest: .venv/tests ## run the tests that the last `make test` left out
	$(suite)

whole: .venv/tests ## style, types, all tests but the slow ones; renews tests/long_tests.txt
	+$(beside)

tests-of-test tests-of-whole:
	$(suite)

slow: .venv/tests ## run the slow tests: all examples and new ones, long fuzzing, calibration, the largest logs
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "slow or hypothesis" --hypothesis-profile search

campaign: .venv/tests ## attack gwa with N=20000 mutated logs, kills, failing disks, Ctrl-C; a table in build/campaign
	$(BIN)/python -m tests.campaign $(or $(N),20000) -o build/campaign

browser: .venv/tests site/node_modules tests/browser/node_modules ## use all pages in a browser, as readers do
	$(BIN)/python -m pytest -n 1 tests/browser

coverage: .venv/tests ## run the tests and measure which branches they take
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow" --cov

lint: .venv/ready ## check format and style
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m ruff check .

types: .venv/ready ## check the types
	$(BIN)/python -m mypy

format: .venv/ready ## format the code and mend what can be mended
	$(BIN)/python -m ruff check --fix-only .
	$(BIN)/python -m ruff format .

messages: .venv/ready ## renew the catalogues of languages with the texts of today
	$(BIN)/python -m tests.messages

docs: .venv/docs ## build the documentation into build/docs, with links checked and every notebook run
	$(BIN)/python -m sphinx -b html -W --keep-going -q docs build/docs
	@echo "The documentation: build/docs/index.html"

lock: .venv/ready ## lock the dependencies; OPTIONS=--upgrade takes their newest versions
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --group dev --generate-hashes \
	    --no-header --no-annotate --no-emit-index-url $(OPTIONS) pyproject.toml -o .ci/requirements.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --group docs --generate-hashes \
	    --constraint .ci/requirements.txt \
	    --no-header --no-annotate --no-emit-index-url $(OPTIONS) pyproject.toml -o .ci/docs.txt

bench: .venv/ready ## compare with peers and with the performance targets
	$(BIN)/python -m benchmarks

ratios: .venv/ready ## measure what has another program beside it, and put the ratios into the documentation
	$(BIN)/python -m benchmarks --page --json build/ratios.json

big: .venv/ready ## measure how time and memory grow with the size of a trace: hours, and 30 GB of disk in build/big
	for rows in 1000000 10000000 44000000; do $(BIN)/python -m benchmarks.scale decade $$rows || exit; done
	for rows in 1000000 10000000 100000000; do $(BIN)/python -m benchmarks.scale google $$rows || exit; done

growth: .venv/ready ## how CPU seconds grow with rows, for each format and for facts; ROWS="100000 1000000"
	$(BIN)/python -m benchmarks.growth $(ROWS)

instructions: .venv/ready ## count the instructions of the core paths: more than 1.3 times those kept fail
	$(BIN)/python -m benchmarks.instructions $(OPTIONS)

fidelity: .venv/ready ## compare our numbers with those that the papers print; LOGS= names other logs
	$(BIN)/python -m benchmarks.fidelity $(LOGS)

leaderboard: .venv/ready ## compare all models on real logs, which takes a while; LOGS= names them
	$(BIN)/gwa model rank $(or $(LOGS),$(filter-out %/lublin_256.swf.gz,$(wildcard ../shared/traces/swf/*.swf.gz))) \
	    -o build/leaderboard

calibration: .venv/ready ## print how often the tests of fits reject the truth, and how far Hurst estimates are off
	$(BIN)/python -m pytest -n 0 -q -s -m slow tests/statistics

spark: .venv/ready ## check that Spark gives what DuckDB gives, and what it takes; LOGS= names other traces
	$(BIN)/uv pip install --quiet --requirement pyproject.toml --extra spark
	JDK_JAVA_OPTIONS=-XX:TieredStopAtLevel=1 $(BIN)/python -m pytest -n 0 -m slow tests/store/test_spark.py
	$(BIN)/python -m benchmarks.spark $(LOGS)

minh: .venv/ready ## compare Minh and Wolters' models, 10 seeds each, with what their papers print
	$(BIN)/python -m benchmarks.minh $(SEEDS)

thesis: .venv/ready ## run chapter 6 of the thesis, over 1,300 simulations, and write a page of its figures and findings
	$(BIN)/python -m benchmarks.chapter6 build/thesis

generation: .venv/ready ## time how long each model takes for 10 million jobs; JOBS= chooses another number
	$(BIN)/python -m benchmarks --only generate --runs 0 --rows $(or $(JOBS),10000000)

setup: .venv/ready ## make .venv only

site: .venv/ready site/node_modules ## build our archive into public/; URL= says where it will stand
	$(BIN)/gwa site build site -o public $(if $(URL),--url $(URL))

surface: .venv/ready ## renew docs/public-surface.json, which a test compares with the public names and options
	$(BIN)/python -m tests.public_surface

reference: .venv/ready ## renew docs/facts.json, the facts of samples and logs, of which the reference is made
	$(BIN)/python -m tests.facts_reference

pictures: .venv/tests ## take the pictures of the documentation again, of the pages that gwa writes of its sample
	$(BIN)/python docs/_ext/pictures.py

# What the next two do needs the index of packages, even after the set-up.
dist: .venv/ready ## build sdist and wheel into dist/ and check both
	$(BIN)/uv build --out-dir dist
	$(BIN)/uv tool run twine check --strict dist/gridworkloads-*
	$(BIN)/uv tool run check-wheel-contents dist/*.whl

oldest: .venv/ready ## use gwa with the oldest versions of its dependencies that pyproject.toml allows
	$(BIN)/uv venv --clear --quiet build/oldest
	VIRTUAL_ENV=build/oldest $(BIN)/uv pip install --quiet --resolution lowest-direct --only-binary :all: \
	    --no-binary gridworkloads . pytest pytest-xdist hypothesis jsonschema prometheus-client
	build/oldest/bin/python -m pytest -n 0 -q -m "not slow" -W ignore::DeprecationWarning \
	    -W ignore::PendingDeprecationWarning tests/test_trace.py tests/report tests/store/test_store.py

release: .venv/ready ## make the release VERSION=: version, changelog, tag, dist/ with bill of materials and checksums
	$(BIN)/python .ci/release.py "$(VERSION)"

clean: ## remove all that these tasks made
	rm -rf .venv build dist public site/node_modules tests/browser/node_modules .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# DuckDB for browsers; a site without it has no console, and is whole otherwise.
site/node_modules: gwa/archive/sql_console.py .venv/ready
	@$(BIN)/gwa site console site --quiet --registry "$$(npm config get registry 2>/dev/null)" || echo "site: DuckDB for browsers could not be fetched, there will be no console"

# The checker of HTML, which needs Java; without it those tests are skipped.
tests/browser/node_modules: tests/browser/package-lock.json
	@npm ci --prefix tests/browser --silent || echo "browser: the checker of HTML could not be fetched"

.venv/docs: .venv/ready .ci/docs.txt
	$(BIN)/uv pip install --quiet --require-hashes --requirement .ci/docs.txt
	touch .venv/docs

.venv/tests: .venv/ready
	.ci/setup tests

.venv/ready: .ci/setup .ci/requirements.txt pyproject.toml
	.ci/setup
