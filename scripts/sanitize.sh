#!/usr/bin/env bash
# sanitize.sh [asan|tsan]: the C++ tests of the floors below torch under AddressSanitizer and
# UndefinedBehaviorSanitizer, then those that use threads under ThreadSanitizer. The first are built
# beside the fuzz targets, from the same objects.
source "$(dirname "$0")/common.sh"
command -v clang++ >/dev/null || die "clang is not there: the sanitizers are its own." \
  "Install it (Debian: apt-get install clang llvm), then run the same command again."
advice="The first line with 'error' above says why."
python=$(command -v "$venv/bin/python" || command -v python3)
full=ON
"$python" -c 'import importlib.util as u; raise SystemExit(not u.find_spec("torch"))' || full=OFF
check() {  # check PRESET FOLDER FLOORS CTEST-ARGUMENT...
  local preset=$1 folder=$root/$2 floors=$3
  shift 3
  step "Configuring ($preset)" cmake --preset "$preset" -DFACEBENCH_TESTS=ON "-DFACEBENCH_FULL=$full" \
    "-DPython_EXECUTABLE=$python"
  local targets=()
  for floor in ${floors//|/ }; do
    [[ ! -d tests/eval/$floor && ! -d tests/vision/$floor ]] || targets+=("facebench_${floor}_test")
  done
  step "Building ($preset)" ninja -C "$folder" -j "$jobs" "${targets[@]}"
  ctest --test-dir "$folder" --output-on-failure --parallel "$jobs" --no-tests=error -L "^($floors)$" "$@" ||
    die "tests failed ($preset)." "Their names are in the lines above."
}
light="core|io|guard|metrics|backends|trials|lists|evaluation|runs|analysis"
pictures=""
[ $full = OFF ] || pictures="|archives|images|detection|crops|datasets"
# Leaks at exit are looked for too; children that are killed report none.
export UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=detect_stack_use_after_return=1
export LSAN_OPTIONS=suppressions=$root/tests/fuzz/leaks.txt:print_suppressions=0
export LLVM_PROFILE_FILE=/dev/null
case ${1:-all} in
  # A confined child has a limit on its address space, which the sanitizers' shadow memory exceeds.
  asan | all) check fuzz build-fuzz "$light$pictures" -E '[Cc]onfined' ;;&
  tsan | all) check tsan build-tsan "core|metrics$pictures" -E '[Cc]onfined' ;;
esac
say "the sanitizers found nothing"
