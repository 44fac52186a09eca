#!/usr/bin/env bash
# test.sh fast: every test but those marked slow. test.sh slow: those alone.
source "$(dirname "$0")/common.sh"
kind=${1:-fast}
scripts/environment.sh test
if [ -n "${FACEBENCH_DATA:-}" ]; then
  export FACEBENCH_DATA
  say "real data: $FACEBENCH_DATA"
else
  say "FACEBENCH_DATA is not set: tests on real photographs will be skipped"
fi

# Several tests run at once: threads that wait for others must not keep a processor busy.
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}

failed=()
if [ "$kind" = fast ]; then
  advice="The first line with 'error' above says why."
  step "Building the C++ tests" cmake --build "$build" --parallel "$jobs"
  started=$SECONDS
  # All of it goes to the log; on the screen only what failed and the closing lines.
  if ! ctest --test-dir "$build" --output-on-failure --parallel "$jobs" --no-tests=error |
    tee "$build/logs/ctest.log" |
    { grep -v -E '^ *(Start +[0-9]+:|[0-9]+/[0-9]+ Test .* Passed )' || true; }; then
    failed+=("C++ (build/logs/ctest.log)")
  fi
  say "C++ tests: $((SECONDS - started)) s"
fi

started=$SECONDS
marker="not slow"
[ "$kind" = fast ] || marker=slow
# One process a processor, at most four; a file's tests stay together, since they share fixtures.
"$venv/bin/python" -m pytest -q -m "$marker" --numprocesses "$((jobs < 4 ? jobs : 4))" \
  --dist loadfile || failed+=("Python")
say "Python tests: $((SECONDS - started)) s"

[ ${#failed[@]} -eq 0 ] || die "tests failed: ${failed[*]}." "Their names are in the lines above."
say "all tests passed"
