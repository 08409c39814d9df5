# The commands of every day. CMake does the building (CMakePresets.json); `make help` lists what there is.
PREFIX  ?= /usr/local
DESTDIR ?=
SYSTEM  ?= scenarios/hydraulic-crane/crane-advised.yaml
SOAK_SECONDS ?= 3600

.DEFAULT_GOAL := help
.PHONY: help build run test test-full coverage bench soak docs install format clean

help:
	@echo 'make run        build, then run $(SYSTEM)'
	@echo 'make test       build and check everything that is fast (a few minutes)'
	@echo 'make build      program and library: build/release/yoke, build/release/libyoke.so'
	@echo 'make test-full  make test, clang, threads, static checks, ARM, fuzzers, long studies'
	@echo 'make coverage   count the lines that the fast tests run, per folder and per line (build/coverage)'
	@echo 'make bench      run the benchmarks'
	@echo 'make soak       repeat every scenario for SOAK_SECONDS=$(SOAK_SECONDS) and compare the bytes'
	@echo 'make docs       check the links of the pages; docs/README.md is where to start reading'
	@echo 'make install    to $$(DESTDIR)$$(PREFIX), PREFIX=$(PREFIX)'
	@echo 'make format     format all C files; make clean removes build/'

build:
	@tools/build release product

run:
	@tools/setup run
	@tools/build release product
	@tools/run_flagship $(SYSTEM)

test:
	@tools/setup test
	@tools/test quick

test-full:
	@tools/setup full
	@tools/test full

coverage:
	@tools/setup coverage
	@tools/coverage

bench:
	@tools/setup run
	@tools/build release benchmarks
	@tools/build release product
	@set -e; for program in build/release/bench/*; do \
	  [ -x "$$program" ] || continue; echo "== $${program##*/}"; "$$program"; done
	@! command -v python3 >/dev/null || { echo '== bench_python' && python3 bench/bench_python.py; }

soak:
	@tools/setup test
	@tools/build release all -DYOKE_TESTS=ON
	@tools/soak $(SOAK_SECONDS)

docs:
	@tools/check_links

install: build
	@DESTDIR='$(DESTDIR)' cmake --install build/release --prefix '$(PREFIX)' >build/release/install.log
	@echo 'installed to $(DESTDIR)$(PREFIX); the files are listed in build/release/install_manifest.txt'

format:
	@tools/format

clean:
	@rm -rf build
