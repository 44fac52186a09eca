# The front door. Each target is one script in scripts/, which says what it does, skips what is
# already done and, where it cannot go on, says what to do.
#
#   make demo         system packages, environment, build, then the main job on synthetic faces
#   make paper        every table and figure of Wang & Guo 2019 on drawn faces, small networks
#   make test         builds and runs every test: C++ (ctest) and Python (pytest)
#   make build        environment in .venv, build and install there, nothing else
#   make test-slow    the tests marked slow
#   make fuzz SECONDS=60   every reader with libFuzzer (clang), so many seconds each
#   make fuzz-libraries    HDF5, libpng and libjpeg-turbo with the sanitizers, for make fuzz
#   make sanitize     C++ tests of the floors below torch under ASan and UBSan, then under TSan (clang)
#   make faults       every verb that writes, with each of its writing calls failing in turn
#   make bench        the benchmarks of tests/bench
#   make bench-paper        time of a step in every installed framework, few steps (15 minutes)
#   make bench-paper-full   the same with the papers' batches and iterations (hours)
#   make engines      .venv-engines: Keras, TensorFlow and JAX to compare with
#   make lint         clang-format, ruff, mypy, pyright, sources by themselves (needs a build)
#   make lint-format  clang-format and ruff alone: seconds, without torch or a build
#   make docs         the documentation as a site in build/docs
#   make wheel        a wheel in dist/
#   make wheel-light PYTHONS="python3.11 python3.12"   wheels of the light package, facebench-eval
#   make install PREFIX=/opt/facebench    the C++ library, headers and CMake package
#   make clean        removes the build folder (not .venv, not runs/)
#
#   PYTHON=python3.12   the interpreter that .venv is made from (3.11 or newer)
#   TORCH=2.11.0        the version of torch; TORCH=cpu its build without CUDA, where the package
#                       index has one; TORCH=cuda all of CUDA on a machine without a GPU, for one
#                       with; TORCH=none builds the light library alone
PYTHON ?=
TORCH ?= 2.11.0
PREFIX ?=
export PYTHON TORCH PREFIX

.PHONY: demo paper test build test-slow fuzz fuzz-libraries sanitize faults bench bench-paper bench-paper-full engines lint lint-format docs wheel wheel-light install clean
.DEFAULT_GOAL := build

build:
	@scripts/build.sh

demo: build
	@scripts/demo.sh

paper: build
	@scripts/paper.sh

test: build
	@scripts/test.sh fast

test-slow: build
	@scripts/test.sh slow

SECONDS ?= 20
fuzz:
	@scripts/fuzz.sh $(SECONDS)

fuzz-libraries:
	@scripts/fuzz_libraries.sh

sanitize:
	@scripts/sanitize.sh

faults: build
	@scripts/faults.sh

bench: build
	@scripts/bench.sh

bench-paper: build
	@scripts/bench_paper.sh quick

bench-paper-full: build
	@scripts/bench_paper.sh full

engines: build
	@scripts/engines.sh

lint:
	@scripts/lint.sh

lint-format:
	@scripts/lint.sh format

docs: build
	@scripts/docs.sh

wheel: build
	@scripts/wheel.sh full

PYTHONS ?=
wheel-light:
	@scripts/wheel.sh light $(PYTHONS)

install: build
	@scripts/install.sh

clean:
	rm -rf build
