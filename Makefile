# What a person may ask for; how the parts are compiled stands in scripts/build.mk.

VERSION := 0.1.0

# Set these on the command line: make test CC=clang CUDA=0
BUILD      ?= build
JOBS       ?= $(shell nproc 2>/dev/null || echo 2)
WERROR     ?=
SAN        ?=
CUDA       ?= 1
CUDA_ARCHS ?=
ARGS       ?=
BUILT      ?=
TESTS      ?=
PREFIX     ?= /usr/local
DESTDIR    ?=
DIST_BUILD := $(if $(filter build,$(BUILD)),build-dist,$(BUILD))

ifneq ($(words $(BUILD)),1)
$(error BUILD='$(BUILD)': the name of one folder without blanks, since make takes blanks for ends of names)
endif

# Compiles in parallel even when nobody says -j; one target at a time is right on this level.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(JOBS)
endif
.NOTPARALLEL:
.SUFFIXES:
.DEFAULT_GOAL := all
export VERSION BUILD TESTS OPT WERROR SAN CUDA CUDA_ARCHS CUDA_HOME CC

build := @$(MAKE) --no-print-directory -f scripts/build.mk

all: ## Build the program: build/gpuceil
	@DEPS=0 scripts/deps.sh
	+$(build) program

bench: deps ## Set up, build, and measure this machine into results/ (ARGS="--quick" passes options)
	+$(build) program
	@BUILD=$(BUILD) scripts/bench.sh $(ARGS)

install: ## Build and install the program, man page and completions (PREFIX=/usr/local, DESTDIR=)
	@DEPS=0 scripts/deps.sh
	+$(build) ship
	@scripts/install.sh $(BUILD) '$(PREFIX)' '$(DESTDIR)'

dist: ## Build for every GPU and pack a tarball that needs nothing installed
	@scripts/deps.sh
	+$(build) ship BUILD=$(DIST_BUILD) CUDA_ARCHS="$(or $(CUDA_ARCHS),all)"
	@scripts/dist.sh $(DIST_BUILD)

demo: ## Show GPU-Util beside the truth: live, or a recording where there is no GPU (ARGS="--plain")
	@DEPS=0 scripts/deps.sh
	+$(build) program
	@$(BUILD)/gpuceil demo --else-replay results/reference/h200/utilization-series.csv $(ARGS)

test: deps ## Set up, build, and run the tests; no GPU needed (TESTS="t_csv": only these)
	+$(build) program tests
	@BUILD=$(BUILD) JOBS=$(JOBS) tests/run $$($(MAKE) -s -f scripts/build.mk list-tests)

test-gpu: ## Run the tests that need a GPU (BUILT=1: nothing is compiled)
ifeq ($(BUILT),)
	@scripts/deps.sh
	+$(build) program gpu-tests
endif
	@scripts/test-gpu.sh $(BUILD)

build-tests: ## Compile all tests, run none
	+$(build) tests gpu-tests

lint: ## Check format, headers, include walls, function length, words; cppcheck
	@scripts/deps.sh lint
	@scripts/lint.sh

format: ## Format the sources with clang-format
	@scripts/lint-format.sh --fix

check-asan: ## Run the tests under the address and undefined-behaviour sanitizers
	+@$(MAKE) --no-print-directory test BUILD=build-asan SAN=address,undefined OPT='-O1 -g'

check-tsan: ## Run the tests under the thread sanitizer
	+@$(MAKE) --no-print-directory test BUILD=build-tsan SAN=thread OPT='-O1 -g'

deps: ## Look for what is needed and install what is missing (DEPS=0: only tell)
	@scripts/deps.sh

clean: ## Remove what was built; results stay
	rm -rf build build-*/ $(if $(wildcard $(BUILD)/cuda.mk),$(BUILD))

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo 'Options: CUDA_ARCHS="80 90a" or all (default: the GPUs here), CUDA_HOME=DIR, CUDA=0 (host'
	@echo 'part only), CC=clang, BUILD=DIR, WERROR=-Werror, DEPS=0 (install nothing), V=1 (show commands).'

.PHONY: all bench demo install dist test test-gpu build-tests lint format check-asan check-tsan deps clean help
