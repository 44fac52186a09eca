#!/usr/bin/env bash
# Builds and runs the benchmarks of tests/bench: kernels and the machine's limits in C++, then ours
# against the peers that people use, in an environment of their own. The figures of a busy machine
# are worth little: stop other work first.
#   scripts/bench.sh                 everything
#   scripts/bench.sh listed --pairs 9    one comparison, arguments of tests/bench/metrics_peers.py
#   scripts/bench.sh train --quick       training, arguments of tests/bench/train_peers.py
source "$(dirname "$0")/common.sh"
advice="The first line with 'error' above says why."
step "Building the benchmarks" cmake --build "$build" --parallel "$jobs" --target facebench_bench

peers=("faiss-cpu>=1.8" "scikit-learn>=1.4")
bench=$root/.venv-bench
wanted=$(printf '%s\n' "$("$venv/bin/python" --version)" "${peers[@]}")
stamp=$bench/facebench-environment
if [ ! -f "$stamp" ] || [ "$(cat "$stamp")" != "$wanted" ]; then
  rm -rf "$bench"
  advice="Is the network there? Then run the same command again."
  step "Environment .venv-bench" "$venv/bin/python" -m venv "$bench"
  step "Installing the peers (${peers[*]})" "$bench/bin/python" -m pip install \
    --disable-pip-version-check --no-input "${peers[@]}"
  # facebench itself is the one in .venv; whatever the peers brought comes first.
  site=$("$bench/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  "$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$site/facebench.pth"
  printf '%s\n' "$wanted" >"$stamp"
fi

# A shell that exports these halves the speed of OpenBLAS.
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
program=$build/tests/bench/facebench_bench
[ $# -gt 0 ] || "$program"
peers() {  # peers NAME ARGUMENT...
  local name=$1
  shift
  "$bench/bin/python" "tests/bench/${name}_peers.py" --limits "$program" --json "$build/bench/$name.json" "$@"
}
if [ "${1:-}" = train ]; then
  shift
  peers train "$@"
  exit
fi
peers metrics "$@"
[ $# -gt 0 ] || peers train
