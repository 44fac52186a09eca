#!/usr/bin/env bash
# fuzz.sh SECONDS [READER...]: every reader of files with libFuzzer, so long each, from the seeds in
# tests/fuzz/seeds. Then the line coverage of the readers by their seeds and what was found.
# Inputs that were new stay in build-fuzz/corpus; one that ends a target stays in build-fuzz/found.
source "$(dirname "$0")/common.sh"
seconds=${1:-20}
shift || true
command -v clang++ >/dev/null || die "clang is not there: libFuzzer comes with it." \
  "Install it (Debian: apt-get install clang llvm), then run the same command again."
fuzz=$root/build-fuzz
advice="The first line with 'error' above says why."
python=$(command -v "$venv/bin/python" || command -v python3)
step "Configuring the fuzz targets" cmake --preset fuzz "-DPython_EXECUTABLE=$python"
readers=("$@")
if [ ${#readers[@]} -eq 0 ]; then
  for target in $(ninja -C "$fuzz" -t targets all | grep -oE '^fuzz_[a-z0-9_]+: phony' | cut -d: -f1); do
    readers+=("${target#fuzz_}")
  done
  # Those whose floors include torch take long to compile: name them.
  for slow in recipe model checkpoint; do readers=("${readers[@]/$slow/}"); done
fi
mkdir -p "$fuzz/found" "$fuzz/profiles"
failed=()
for reader in "${readers[@]}"; do
  [ -n "$reader" ] || continue
  step "Building fuzz_$reader" ninja -C "$fuzz" "fuzz_$reader"
  program=$fuzz/tests/fuzz/fuzz_$reader
  corpus=$fuzz/corpus/$reader
  mkdir -p "$corpus"
  dictionary=()
  [ ! -f "tests/fuzz/dictionaries/$reader.dict" ] || dictionary=("-dict=tests/fuzz/dictionaries/$reader.dict")
  # Coverage by the seeds alone.
  LLVM_PROFILE_FILE=$fuzz/profiles/$reader.raw "$program" -runs=0 "tests/fuzz/seeds/$reader" \
    >"$fuzz/profiles/$reader.log" 2>&1 || failed+=("$reader (seeds)")
  log=$fuzz/found/$reader.log
  if ! LLVM_PROFILE_FILE=/dev/null "$program" "-max_total_time=$seconds" -timeout=20 -rss_limit_mb=4096 \
    -max_len=65536 -print_final_stats=1 "-artifact_prefix=$fuzz/found/$reader-" "${dictionary[@]}" \
    "$corpus" "tests/fuzz/seeds/$reader" >"$log" 2>&1; then
    failed+=("$reader ($log)")
  fi
  printf '%-14s %12s executions\n' "$reader" \
    "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)"
done
if command -v llvm-profdata >/dev/null; then
  "$(dirname "$0")/fuzz_coverage.sh" "$fuzz"
fi
[ ${#failed[@]} -eq 0 ] || die "ended by an input: ${failed[*]}." "The inputs are in $fuzz/found."
say "no target was ended by an input"
