#!/usr/bin/env bash
# Builds and runs the benchmarks of tests/bench.
source "$(dirname "$0")/common.sh"
advice="The first line with 'error' above says why."
step "Building the benchmarks" cmake --build "$build" --parallel "$jobs" --target facebench_bench
"$build/tests/bench/facebench_bench" "$@"
