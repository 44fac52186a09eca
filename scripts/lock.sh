#!/usr/bin/env bash
# Writes the locks: every package of the environment with its version and the SHA-256 of its files,
# for each Python from 3.11 on. Versions that the files name stay where they fit; delete the files
# first for the newest of all. Needs uv in PATH (pip install uv).
#   requirements.lock        building and running
#   requirements-gpu.lock    what torch opens only when it uses a GPU
#   requirements-test.lock   what the tests need beside the first
source "$(dirname "$0")/common.sh"
command -v uv >/dev/null || die "uv is not there." "Install it (pip install uv), then run the same command again."
python=$(scripts/python.sh)
# Torch is loaded without these (readelf -d of its libraries); the rest of CUDA it links.
gpu=(triton cuda-bindings cuda-pathfinder cuda-toolkit nvidia-cuda-nvrtc nvidia-cusolver nvidia-nvtx)

names() { sed -n 's/^\([a-z0-9.-]*\)==.*/\1/p' "$@" | sort -u; }
lock() {  # lock FILE NAME...: the requirements of stdin, but for those names
  local file=$1
  shift
  uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
    --output-file "$file" "${@/#/--no-emit-package=}" -
  say "$file: $(names "$file" | wc -l) packages"
}
run=$("$python" scripts/requirements.py run "$TORCH")
lock requirements.lock "${gpu[@]}" <<<"$run"
readarray -t others < <(names requirements.lock)
lock requirements-gpu.lock "${others[@]}" <<<"$run
-c requirements.lock"
lock requirements-test.lock "${others[@]}" "${gpu[@]}" <<<"$run
$("$python" scripts/requirements.py test "$TORCH")
-c requirements.lock
-c requirements-gpu.lock"
