#!/usr/bin/env bash
# System packages, environment, then the package built in build/ and installed into .venv.
source "$(dirname "$0")/common.sh"
scripts/system_packages.sh
scripts/environment.sh

sources=$(fingerprint CMakeLists.txt pyproject.toml README.md LICENSE cpp bindings python protocols scripts)
stamp=$build/installed
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$sources" ]; then
  say "build: up to date"
  exit 0
fi

# One build folder for the package and for the C++ tests, so that nothing is compiled twice.
install_package() {
  PATH=$venv/bin:$PATH CMAKE_BUILD_PARALLEL_LEVEL=$jobs \
    "$venv/bin/python" -m pip install --disable-pip-version-check --no-input --verbose \
    --no-build-isolation --no-deps --force-reinstall \
    --config-settings=build-dir="$build" --config-settings=cmake.define.FACEBENCH_TESTS=ON .
}
advice="The first line with 'error' above says why."
step "Building and installing facebench (first time: minutes)" install_package
printf '%s\n' "$sources" >"$stamp"
