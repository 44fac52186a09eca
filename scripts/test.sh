#!/usr/bin/env bash
# test.sh fast: every test but those marked slow. test.sh slow: those alone.
# The times of each test are left in build/logs, for scripts/test_times.py.
source "$(dirname "$0")/common.sh"
kind=${1:-fast}
# Packages are fetched while the C++ tests are compiled, which need none of them.
begin "$build/logs/test-environment.log" scripts/environment.sh test
if [ -n "${FACEBENCH_DATA:-}" ]; then
  export FACEBENCH_DATA
  say "real data: $FACEBENCH_DATA"
else
  say "FACEBENCH_DATA is not set: tests on real photographs will be skipped"
fi

# The library waits for the disk after each file that it writes; for those of tests memory will do.
room=$(df --output=avail --block-size=1G /dev/shm 2>/dev/null | tail -n 1 || true)
if [ -z "${TMPDIR:-}" ] && [ "${room:-0}" -ge 4 ]; then
  TMPDIR=$(mktemp -d /dev/shm/facebench-XXXXXX)
  export TMPDIR
  trap 'end_begun; rm -rf "$TMPDIR"' EXIT
fi
failed=()
logs=()

# cpp_tests LOG ARGUMENT...: ctest. All of it goes to the log; on the screen only what failed and the
# closing lines.
cpp_tests() {
  local log=build/logs/$1.log started=$SECONDS
  logs+=("$log")
  ctest --test-dir "$build" --output-on-failure --parallel "$jobs" --no-tests=error "${@:2}" |
    tee "$log" |
    { grep -v -E '^ *(Start +[0-9]+:|[0-9]+/[0-9]+ Test .* Passed )' || true; } ||
    failed+=("C++ ($log)")
  say "C++ tests: $((SECONDS - started)) s"
}

# python_tests LOG ARGUMENT...: pytest, one process a processor, at most four; a file's tests stay
# together, since they share fixtures. Long files come first (tests/conftest.py); of itself
# pytest-xdist begins with those of the most tests.
python_tests() {
  local log=build/logs/$1.log started=$SECONDS
  logs+=("$log")
  "$venv/bin/python" -m pytest -q --numprocesses "$((jobs < 4 ? jobs : 4))" \
    --dist loadfile --no-loadscope-reorder --junitxml "build/logs/$1.xml" "${@:2}" |
    tee "$log" || failed+=("Python ($log)")
  say "Python tests: $((SECONDS - started)) s"
}

if [ "$kind" = fast ]; then
  advice="The first line with 'error' above says why."
  step "Building the C++ tests" cmake --build "$build" --parallel "$jobs"
  step "Packages of the tests" follow
  rm -f build/logs/{ctest,pytest}*.{log,xml}
  cpp_tests ctest
  python_tests pytest -m "not slow"
  # What depends on kernels, once more with each of the lower instruction sets.
  mapfile -t files < <(grep -lrxE "(@|pytestmark = )pytest.mark.kernels" tests --include "test_*.py")
  for isa in $("$venv/bin/python" -c '
from facebench import core
names = ["plain", "avx2", "avx512", "avx512bf16"]
print(*names[:names.index(core.active_isa())])'); do
    say "the tests of kernels with FACEBENCH_ISA=$isa"
    export FACEBENCH_ISA=$isa
    cpp_tests "ctest-$isa" --label-regex kernels
    python_tests "pytest-$isa" -m "kernels and not slow" "${files[@]}"
  done
else
  step "Packages of the tests" follow
  python_tests pytest-slow -m slow
fi

[ ${#failed[@]} -eq 0 ] || {
  # Once more together: other runs of tests may stand between them and the end.
  grep -hE '^(FAILED|ERROR) |^\s+[0-9]+ - ' "${logs[@]}" || true
  die "tests failed: ${failed[*]}." "Their names are in the lines above."
}
say "all tests passed"
