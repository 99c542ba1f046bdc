# SPDX-License-Identifier: Apache-2.0
#
# Commands for users: each target installs what is missing (tools/setup.sh), builds and runs.
# The build itself is CMake; see CMakePresets.json for all kinds of build.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
SECONDS_PER_TARGET ?= 60
ROUNDS ?= 3

.DEFAULT_GOAL := help
.PHONY: help quickstart test check bench format fuzz install deb clean

help:  ## print this list
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-11s %s\n", $$1, $$2}'

quickstart:  ## build, then run the engine on real data, step by step (a few minutes)
	@tools/setup.sh build
	@cmake --preset release $(CMAKE_QUIET)
	@cmake --build build/release -j $(JOBS) --target example_quickstart example_package_index ldb sst_dump db_bench
	@tools/quickstart.sh build/release

test:  ## build with assertions and run every test, as CI does
	@tools/setup.sh build test
	@cmake --preset test $(CMAKE_QUIET)
	@cmake --build build/test -j $(JOBS)
	@ctest --test-dir build/test -j $(JOBS) --output-on-failure --timeout 1500

check:  ## run the fast part of the tests
	@tools/setup.sh build test
	@cmake --preset test $(CMAKE_QUIET)
	@cmake --build build/test -j $(JOBS)
	@ctest --test-dir build/test -j $(JOBS) --output-on-failure -L fast

bench:  ## compare db_bench with RocksDB's (ROUNDS=3)
	@tools/setup.sh build bench
	@cmake --preset native $(CMAKE_QUIET)
	@cmake --build build/native -j $(JOBS) --target db_bench
	@python3 benchmarks/compare/compare.py --ours build/native/db_bench --rounds $(ROUNDS) \
	  --html build/native/compare.html

format:  ## run clang-format on every source file
	@tools/setup.sh format
	@find include util env cache table memtable db tools tests benchmarks examples \
	  \( -name '*.h' -o -name '*.cc' \) -print0 | xargs -0 clang-format -i

fuzz:  ## run libFuzzer on every decoder (SECONDS_PER_TARGET=60)
	@tools/setup.sh build test fuzz
	@cmake --preset fuzz $(CMAKE_QUIET)
	@cmake --build build/fuzz -j $(JOBS)
	@tests/fuzz/run.sh build/fuzz $(SECONDS_PER_TARGET)

install:  ## install headers, libraries, CMake packages, pkg-config files (PREFIX=/usr/local)
	@tools/setup.sh build
	@cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(CMAKE_QUIET)
	@cmake --build build/release -j $(JOBS)
	@cmake --install build/release

deb:  ## build Debian packages of the library, the drop-in and the tools, in build/deb/packages
	@tools/setup.sh build deb
	@cmake --preset release -B build/deb -DASHLAR_LTO=ON -DCMAKE_INSTALL_PREFIX=/usr $(CMAKE_QUIET)
	@cmake --build build/deb -j $(JOBS)
	@cpack --config build/deb/CPackConfig.cmake -B build/deb/packages
	@rm -rf build/deb/packages/_CPack_Packages
	@tests/install/library_sizes.sh build/deb || echo "The packages in build/deb/packages are complete."

clean:  ## remove the build folder
	@rm -rf build

CMAKE_QUIET = --log-level=WARNING
