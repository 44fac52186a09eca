#!/usr/bin/env bash
# Runs a command as on a processor that has AVX2 and nothing wider: facebench and all that it stands
# beside (torch, MKL, oneDNN, OpenBLAS, ONNX Runtime, ncnn) choose their kernels by what CPUID says,
# and are told so. FACEBENCH_ISA=avx2 chooses facebench's alone. For programs that are dynamically
# linked, on Linux, where the processor can do it (Intel's since 2012, also in virtual machines).
#   scripts/as_avx2.sh make test
#   scripts/as_avx2.sh scripts/bench.sh embed resnet50
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
[ $# -gt 0 ] || { echo "usage: scripts/as_avx2.sh COMMAND..." >&2; exit 2; }
grep -qwm1 cpuid_fault /proc/cpuinfo || {
  echo "as_avx2: this processor cannot hide instructions (no cpuid_fault in /proc/cpuinfo)" >&2
  exit 1
}
mkdir -p "$root/build"
library=$root/build/as_avx2.so
[ "$library" -nt "$root/scripts/as_avx2.c" ] ||
  "${CC:-cc}" -O2 -Wall -Wextra -shared -fPIC -Wl,-z,initfirst -o "$library" "$root/scripts/as_avx2.c"
LD_PRELOAD=$library${LD_PRELOAD:+:$LD_PRELOAD} exec "$@"
