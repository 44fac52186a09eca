#!/usr/bin/env bash
# fuzz_coverage.sh FOLDER: line coverage of the sources of the readers by their seeds, from the
# profiles that fuzz.sh left in FOLDER/profiles.
source "$(dirname "$0")/common.sh"
fuzz=$1
llvm-profdata merge -sparse "$fuzz"/profiles/*.raw -o "$fuzz/profiles/all.profdata"
objects=()
for program in "$fuzz"/tests/fuzz/fuzz_*; do
  [ -x "$program" ] && [ ! -d "$program" ] && objects+=("-object=$program")
done
# The first file stands by itself; what is named -object alone is taken for a source.
llvm-cov report "$fuzz/cpp/libfacebench_eval.so" "${objects[@]}" \
  "-instr-profile=$fuzz/profiles/all.profdata" cpp/src/io cpp/src/protocols cpp/src/images \
  cpp/src/detection/given.cc cpp/src/datasets/pack.cc cpp/src/datasets/exclusion.cc |
  awk 'NR > 2 && NF >= 10 { printf "%-46s %6s lines %8s\n", $1, $8, $10 }'
