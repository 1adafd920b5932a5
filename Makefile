# Annals. `make` alone lists the targets.
#
# The program and its tests share one profile (dev, see Cargo.toml) and one target folder outside the
# checkout, so that a dependency is compiled once. What is measured and installed is the release profile,
# in a folder of its own. RocksDB is
# compiled by `make setup` (scripts/rocksdb.sh) and linked by every target.
# Cargo compiles a dependency again for another set of features, and `-p annals`
# alone gives such a set; so every target here builds with --workspace.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

cache := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/annals
override CARGO_TARGET_DIR := $(or $(CARGO_TARGET_DIR),$(cache)/target)
export CARGO_TARGET_DIR
# Where rustup puts cargo, in case the shell's start-up files do not say so.
export PATH := $(PATH):$(or $(CARGO_HOME),$(HOME)/.cargo)/bin

# Links the RocksDB of `make setup`, in every recipe.
export BASH_ENV := scripts/build-env.sh

# For example: make test CARGO_FLAGS=--locked
CARGO_FLAGS ?=
# How long `make soak` takes, and more for it: make soak SOAK=60s SOAK_FLAGS='--only redact'
SOAK ?= 600s
SOAK_FLAGS ?=
# What `make secrets-corpus` looks through
ORDINARY ?= $(or $(CARGO_HOME),$(HOME)/.cargo)/registry/src
# How many hooks `make hooks` plays
HOOKS ?= 4000
# How long each target of `make fuzz` takes, and which one, if not all
FUZZ ?= 600s
TARGET ?=
# How many events `make growth` comes to
GROWTH ?= 10000000
# How often `make failover` kills a primary
FAILOVERS ?= 20
# What `make compare` and `make compare-postgres` measure, and, for the first, a build of our side to measure instead of
# the usual one
COMPARE_FLAGS ?=
OURS ?=
# For `make bench-guard`: any value of UPDATE counts again after an intended change; ONLY takes the
# cases with this text in their names; RUNS repeats each; GUARD_FLAGS, such as `--json`
UPDATE ?=
ONLY ?=
RUNS ?=
GUARD_FLAGS ?=
program := $(CARGO_TARGET_DIR)/debug/annals
release_target := $(cache)/target-release
# The sessions and the calls of `make pages`, if not 10,000 and 50,000
PAGES ?=
# Where `make install` puts the program, and `make dist` the archive
PREFIX ?= $(HOME)/.local
DIST ?= $(cache)/dist
# What `make package` gives to cargo, such as --offline
PACKAGE_FLAGS ?=

.PHONY: help setup setup-build env build release install dist package screenshots pages readme cli test test-long hooks owners fuzz soak mutants failover concurrency demo corpus corpus-pieces complete secrets-corpus retention ci bench bench-guard growth judging timings browse compare compare-postgres fmt lint doc deny events

help: ## lists the targets
	@printf 'make TARGET, where TARGET is:\n'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 14
	@printf 'Builds go to %s (set CARGO_TARGET_DIR for another folder).\n' '$(CARGO_TARGET_DIR)'

setup: ## installs what the build and the tests need on Debian and Ubuntu, and compiles RocksDB
	@scripts/setup.sh
	@scripts/rocksdb.sh
	@scripts/build-time.sh

# The tests also need browsers, servers and tools.
setup-build:
	@scripts/setup.sh --build
	@scripts/rocksdb.sh
	@scripts/build-time.sh

env: ## the variables of a shell that calls cargo itself: eval "$(make env)"
	@printf "export CARGO_TARGET_DIR='%s'" '$(CARGO_TARGET_DIR)'
	@[ -z "$${ROCKSDB_LIB_DIR:-}" ] || printf " ROCKSDB_LIB_DIR='%s' ROCKSDB_STATIC='1'" "$$ROCKSDB_LIB_DIR"
	@echo

# With --workspace the program, the tests and the benches have the same features, so they share every
# compiled dependency (scripts/shared-builds.sh).
build: setup-build ## builds the program
	cargo build --workspace $(CARGO_FLAGS) --bin annals

# --workspace as everywhere.
release: override CARGO_TARGET_DIR := $(release_target)
release: setup-build ## builds the program for use, with link-time optimisation, and measures its start
	cargo build --release --workspace $(CARGO_FLAGS) --bin annals
	@scripts/release.sh '$(release_target)/release/annals'

install: release ## puts the program, its manual pages and completions into PREFIX=~/.local
	@scripts/install.sh '$(release_target)/release/annals' '$(PREFIX)'
	@printf 'installed %s/bin/annals\n' '$(PREFIX)'
	@command -v annals >/dev/null || echo 'add $(PREFIX)/bin to PATH to call it as "annals"'

dist: release ## an archive of the program for use elsewhere, in DIST=FOLDER
	@scripts/dist.sh '$(release_target)/release/annals' '$(DIST)'

package: ## packs the crates that are published, without compiling them; PACKAGE_FLAGS=--allow-dirty
	@scripts/package.sh $(PACKAGE_FLAGS)

test: setup ## every test: unit, integration and doctests
	@scripts/test.sh $(CARGO_FLAGS)

test-long: setup ## the same with many more random cases, other ones each time, and kills (hours)
	@export PROPTEST_RNG_SEED="$${PROPTEST_RNG_SEED:-$$(date +%s)}"; \
	echo "PROPTEST_RNG_SEED=$$PROPTEST_RNG_SEED"; \
	PROPTEST_CASES=4096 ANNALS_KILLS=1000 cargo test --workspace --no-fail-fast $(CARGO_FLAGS)

hooks: setup ## HOOKS=4000 hooks of a session from 8 processes at once, with kills and full disks by SEED=N
	@export ANNALS_SEED=$${SEED:-$$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}; \
	export ANNALS_HOOKS='$(HOOKS)'; \
	echo "make hooks HOOKS=$$ANNALS_HOOKS SEED=$$ANNALS_SEED"; \
	cargo test --workspace $(CARGO_FLAGS) --test cli hook_driver -- --nocapture

owners: setup ## imports, watchers, telemetry and hooks beside OWNERS=1000 rounds of owners that go, by SEED=N
	@export ANNALS_SEED=$${SEED:-$$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}; \
	export ANNALS_OWNERS='$(or $(OWNERS),1000)'; \
	echo "make owners OWNERS=$$ANNALS_OWNERS SEED=$$ANNALS_SEED"; \
	cargo test --workspace $(CARGO_FLAGS) --test cli owners_that_go -- --nocapture

# The worker and `soak` are built with the tests, whose features they share.
soak: setup ## faults and power cuts, cycle after cycle, for SOAK=600s
	cargo test --workspace $(CARGO_FLAGS) --no-run
	'$(CARGO_TARGET_DIR)/debug/soak' --seconds '$(SOAK:s=)' $(SOAK_FLAGS)

# Programs with seeded bugs are built next to the others and copied away, so that none of
# them is taken for the real one later.
mutants: setup ## seeded bugs, each of which the soak must find
	@scripts/mutants.sh $(CARGO_FLAGS)

# annals-store-postgres has no RocksDB, so selecting it alone is safe. `make test` runs the same with three
# kills and without name spaces. One test after the other, so that none has to share the processors.
failover: ## kills the primary of a PostgreSQL cluster FAILOVERS=20 times under load, and cuts its network
	ANNALS_FAILOVERS='$(FAILOVERS)' ANNALS_NAMESPACES=1 \
	cargo test --workspace $(CARGO_FLAGS) --test cluster -- --nocapture --test-threads 1

# annals-concurrency has no RocksDB, so selecting it alone is safe. `make test` runs the
# same with 1000 schedules of each kind and one seed, in some seconds.
concurrency: ## what threads share, under SCHEDULES=20000 schedules chosen by SEED=N
	@export ANNALS_SEED=$${SEED:-$$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}; \
	export ANNALS_SCHEDULES=$${SCHEDULES:-20000}; \
	echo "make concurrency SEED=$$ANNALS_SEED SCHEDULES=$$ANNALS_SCHEDULES"; \
	cargo test -p annals-concurrency --no-fail-fast $(CARGO_FLAGS)

# The seeds' program is built with the tests, whose features it shares.
fuzz: setup ## fuzzes every parser of foreign bytes, FUZZ=600s each; TARGET=name takes one
	cargo test --workspace $(CARGO_FLAGS) --no-run
	@FUZZ='$(FUZZ)' TARGET='$(TARGET)' scripts/fuzz.sh

demo: build ## imports this repository's history and looks at it
	@ANNALS_BIN='$(program)' scripts/demo.sh

# With --lib no test of another kind is compiled; the crate has RocksDB below it, so --workspace.
secrets-corpus: ## how many secrets are found of each kind, and in ORDINARY=FOLDER, where none are
	ANNALS_SECRETS=400 ANNALS_ORDINARY='$(ORDINARY)' cargo test --workspace $(CARGO_FLAGS) --lib tests::corpus -- --nocapture

screenshots: setup build ## pictures of the viewer's pages, of made-up recordings, for README.md and docs/viewer.md
	@scripts/screenshots.sh '$(program)' docs/images

readme: build ## writes what the program prints into the README and the tour
	UPDATE_GOLDENS=1 cargo test --workspace $(CARGO_FLAGS) --test cli shows_what_the_program_prints

pages: release ## how long the viewer's pages take, beside their goals, on a log that is made up; PAGES='10000 50000'
	@scripts/page_times.py '$(release_target)/release/annals' $(PAGES)

corpus: build ## imports the recordings in CORPUS=DIR and compares with a recount
	@ANNALS_BIN='$(program)' scripts/corpus.sh '$(CORPUS)'

# Without a folder nothing is built.
complete: $(if $(CORPUS),build) ## compares the conversation of each recording in CORPUS=DIR with the recording itself
	@[ -n '$(CORPUS)' ] || { echo 'complete: NOT RUN: name the folder of recordings: make complete CORPUS=DIR' >&2; exit 1; }
	@ANNALS='$(program)' python3 scripts/complete.py --self-test
	@ANNALS='$(program)' python3 scripts/complete.py --each '$(CORPUS)'

corpus-pieces: build ## imports the recordings in CORPUS=DIR cut, grown, doubled, renamed and killed, and compares
	@python3 scripts/pieces.py '$(program)' '$(CORPUS)'

retention: build ## how long `annals log retain` takes for BLOBS=20000 blobs, and whether git keeps them
	@scripts/retention.sh '$(or $(BLOBS),20000)' '$(program)'

ci: ## all that must hold before a change is taken; what .ci/run does
	@scripts/ci.sh

bench: override CARGO_TARGET_DIR := $(release_target)
bench: setup ## benchmarks against raw RocksDB, and their ratios
	@log=$$(mktemp); trap 'rm -f "$$log"' EXIT; \
	cargo bench --workspace $(CARGO_FLAGS) --bench '*' 2>&1 | tee "$$log"; \
	printf '\nRatios:\n'; \
	grep -E ' ratio +[0-9]' "$$log" || { echo 'the benches printed no ratio' >&2; exit 1; }

growth: override CARGO_TARGET_DIR := $(release_target)
growth: setup ## a log of GROWTH=10000000 events, and what it takes at each power of ten
	ANNALS_EVENTS='$(GROWTH)' cargo bench --workspace $(CARGO_FLAGS) --bench growth

browse: setup ## the viewer's pages of LOG=DIR in a browser: what is wrong with them, and how long they take
	@test -n '$(LOG)' || { echo 'browse: name a log: make browse LOG=DIR' >&2; exit 1; }
	ANNALS_VIEWER_LOG='$(abspath $(LOG))' cargo test --workspace $(CARGO_FLAGS) --test viewer a_given_log -- --nocapture

timings: build ## every test with its exact bounds on time, which other tests widen; on an idle machine
	ANNALS_TIMINGS=1 cargo test --workspace --no-fail-fast $(CARGO_FLAGS) -- --test-threads 1

judging: build ## 100,000 calls judged by all policies, in seconds; on an idle machine
	ANNALS_CALLS=100000 cargo test --workspace $(CARGO_FLAGS) --test tool_policy speed -- --nocapture --test-threads 1

# Has no `build` before it: scripts/compare.sh builds two programs alone.
compare: setup ## our log against other stores, COMPARE_FLAGS=--quick; writes docs/performance.md
	@OURS='$(OURS)' CARGO_FLAGS='$(CARGO_FLAGS)' scripts/compare.sh $(COMPARE_FLAGS)

# As above: scripts/compare-postgres.sh builds one program alone.
compare-postgres: setup ## our log on PostgreSQL against others there, COMPARE_FLAGS=--quick; writes docs/performance.md
	@CARGO_FLAGS='$(CARGO_FLAGS)' scripts/compare-postgres.sh $(COMPARE_FLAGS)

# The one argument that cargo adds is `--bench`.
bench-guard: setup ## counts the instructions of the hot paths and compares with benches/guard.json
	@command -v valgrind >/dev/null || { echo 'bench-guard: NOT RUN: it needs valgrind' >&2; exit 1; }
	@cargo bench --profile dev --workspace $(CARGO_FLAGS) --bench guard -- count \
	$(if $(UPDATE),--update) $(if $(ONLY),--only '$(ONLY)') $(if $(RUNS),--runs '$(RUNS)') $(GUARD_FLAGS)

fmt: ## formats the source
	cargo fmt --all

lint: setup ## clippy, warnings denied
	cargo clippy --workspace --all-targets $(CARGO_FLAGS) -- -D warnings

doc: setup ## the documentation of all crates, warnings denied
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps $(CARGO_FLAGS)

deny: ## dependencies: bans, licences, sources, advisories
	@scripts/deny.sh

cli: build ## writes docs/cli.md, after a command's help changed
	UPDATE_GOLDENS=1 cargo test --workspace $(CARGO_FLAGS) --lib the_page_of_all_commands

# annals-wire has no RocksDB, so selecting it alone is safe. The test of the
# change log fails until CHANGELOG.md has the line that it then prints.
events: ## writes docs/events.md and missing goldens, after an event's shape changed
	UPDATE_GOLDENS=1 cargo test -p annals-wire --no-fail-fast $(CARGO_FLAGS)
