#!/usr/bin/env bash
# fuzz.sh SECONDS [READER...]: every reader of files with libFuzzer, so long each, from the seeds in
# tests/fuzz/seeds. Then the line coverage of the readers by their seeds and what was found.
# HDF5, libpng, libjpeg-turbo and libwebp are instrumented where scripts/fuzz_libraries.sh was run before.
# Inputs that were new stay in build-fuzz/corpus; one that ends a target stays in build-fuzz/found.
source "$(dirname "$0")/common.sh"
seconds=${1:-20}
shift || true
command -v clang++ >/dev/null || die "clang is not there: libFuzzer comes with it." \
  "Install it (Debian: apt-get install clang llvm), then run the same command again."
fuzz=$root/build-fuzz
advice="The first line with 'error' above says why."
python=$(command -v "$venv/bin/python" || command -v python3)
full=ON
"$python" -c 'import importlib.util as u; raise SystemExit(not u.find_spec("torch"))' || full=OFF
step "Configuring the fuzz targets" cmake --preset fuzz -DFACEBENCH_TESTS=OFF "-DFACEBENCH_FULL=$full" \
  "-DPython_EXECUTABLE=$python"
say "$(sed -n 's/^-- //; /sanitizers: /p' "$build/logs/configuring-the-fuzz-targets.log")"

# Reader -> program, as tests/fuzz/CMakeLists.txt says.
declare -A program_of
while read -r name list; do
  for reader in $list; do program_of[$reader]=$name; done
done < <(tr '\n' ' ' <tests/fuzz/CMakeLists.txt | grep -oE 'set\((readers|picture_readers|full_readers) [^)]*' |
  sed 's/set(readers/fuzz_light/; s/set(picture_readers/fuzz_pictures/; s/set(full_readers/fuzz_full/')
readers=("$@")
if [ ${#readers[@]} -eq 0 ]; then
  # Those whose floors include torch take long to compile: name them.
  for reader in $(printf '%s\n' "${!program_of[@]}" | sort); do
    case ${program_of[$reader]} in
      fuzz_light) readers+=("$reader") ;;
      fuzz_pictures) [ $full = OFF ] || readers+=("$reader") ;;
    esac
  done
fi
for name in $(for reader in "${readers[@]}"; do echo "${program_of[$reader]:?no reader $reader}"; done | sort -u); do
  step "Building $name" ninja -C "$fuzz" "$name"
done
mkdir -p "$fuzz/found" "$fuzz/profiles"
export LSAN_OPTIONS=suppressions=$root/tests/fuzz/leaks.txt:print_suppressions=0
# libhdf5 asks for as much as a damaged file says, and bears a refusal; of ours it stays a finding.
export ASAN_OPTIONS=allocator_may_return_null=1
failed=()
for reader in "${readers[@]}"; do
  export FACEBENCH_FUZZ_READER=$reader
  program=$fuzz/tests/fuzz/${program_of[$reader]}
  corpus=$fuzz/corpus/$reader
  mkdir -p "$corpus"
  dictionary=()
  [ ! -f "tests/fuzz/dictionaries/$reader.dict" ] || dictionary=("-dict=tests/fuzz/dictionaries/$reader.dict")
  # What is longer is cut: no seed is, or a file of several tables would never be read.
  longest=$(find "tests/fuzz/seeds/$reader" -type f -printf '%s\n' | sort -n | tail -n 1)
  # Coverage by the seeds alone.
  LLVM_PROFILE_FILE=$fuzz/profiles/$reader.raw "$program" -runs=0 "-artifact_prefix=$fuzz/found/$reader-" \
    "tests/fuzz/seeds/$reader" \
    >"$fuzz/profiles/$reader.log" 2>&1 || failed+=("$reader (seeds)")
  log=$fuzz/found/$reader.log
  if ! LLVM_PROFILE_FILE=/dev/null "$program" "-max_total_time=$seconds" -timeout=20 -rss_limit_mb=4096 \
    "-max_len=$((longest > 65536 ? longest : 65536))" -print_final_stats=1 "-artifact_prefix=$fuzz/found/$reader-" "${dictionary[@]}" \
    "$corpus" "tests/fuzz/seeds/$reader" >"$log" 2>&1; then
    failed+=("$reader ($log)")
  fi
  # The last line of statistics: edges covered, size of the corpus.
  printf '%-14s %12s executions %s\n' "$reader" \
    "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)" \
    "$(grep -oE 'cov: [0-9]+ .*corp: [0-9]+' "$log" | tail -n 1)"
done
if command -v llvm-profdata >/dev/null; then
  "$python" scripts/fuzz_coverage.py "$fuzz"
fi
[ ${#failed[@]} -eq 0 ] || die "ended by an input: ${failed[*]}." "The inputs are in $fuzz/found."
say "no target was ended by an input"
