#!/usr/bin/env bash
# The C++ tests of the light library under AddressSanitizer and UndefinedBehaviorSanitizer, then those
# that use threads under ThreadSanitizer.
source "$(dirname "$0")/common.sh"
advice="The first line with 'error' above says why."
python=$(command -v "$venv/bin/python" || command -v python3)
check() {  # check PRESET FOLDER CTEST-ARGUMENT...
  local preset=$1 folder=$2
  shift 2
  step "Configuring ($preset)" cmake --preset "$preset" -DFACEBENCH_FULL=OFF "-DPython_EXECUTABLE=$python"
  step "Building ($preset)" cmake --build "$folder" --parallel "$jobs"
  ctest --test-dir "$folder" --output-on-failure --parallel "$jobs" --no-tests=error "$@" ||
    die "tests failed ($preset)." "Their names are in the lines above."
}
# Leaks at exit are looked for too; children that are killed report none.
export UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=detect_stack_use_after_return=1
export LSAN_OPTIONS=suppressions=$root/tests/fuzz/leaks.txt:print_suppressions=0
# A confined child has a limit on its address space, which the sanitizers' shadow memory exceeds.
check asan "$root/build-asan" -E '[Cc]onfined'
check tsan "$root/build-tsan" -R '^core\.|^metrics\.' -E '[Cc]onfined'
say "the sanitizers found nothing"
