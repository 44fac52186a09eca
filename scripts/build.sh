#!/usr/bin/env bash
# System packages, environment, then the package built in build/ and installed into .venv.
source "$(dirname "$0")/common.sh"
scripts/system_packages.sh
advice="The first line with 'error' above says why."

# The first time, what needs neither torch nor Python is compiled while they are fetched. The build of
# the whole goes on from there: it compiles these files by the same commands.
export CC=${CC:-cc} CXX=${CXX:-c++}  # not those that Python was built with
compile_light() {
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DFACEBENCH_FULL=OFF -DFACEBENCH_PYTHON=OFF &&
    cmake --build "$build" --parallel "$jobs" --target facebench_eval
}
if [ -d "$venv" ]; then
  scripts/environment.sh
else
  begin "$build/logs/light.log" compile_light
  scripts/environment.sh
  step "Compiling the light library" follow
fi

sources=$(fingerprint CMakeLists.txt pyproject.toml README.md LICENSE cpp bindings python protocols scripts)
stamp=$build/installed
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$sources" ]; then
  say "build: up to date"
  exit 0
fi
# What CMake remembers may be of another environment.
[ -f "$stamp" ] || rm -f "$build/CMakeCache.txt"

# One build folder for the package and for the C++ tests, so that nothing is compiled twice.
other=facebench-eval  # which has the same folder
if [ "$TORCH" = none ]; then
  export FACEBENCH_LIGHT=1
  other=facebench
fi
install_package() {
  "$venv/bin/python" -m pip uninstall --disable-pip-version-check --yes "$other"
  PATH=$venv/bin:$PATH CMAKE_BUILD_PARALLEL_LEVEL=$jobs \
    "$venv/bin/python" -m pip install --disable-pip-version-check --no-input --verbose \
    --no-build-isolation --no-deps --force-reinstall \
    --config-settings=build-dir="$build" --config-settings=cmake.define.FACEBENCH_TESTS=ON .
}
step "Building and installing facebench (first time: minutes)" install_package
printf '%s\n' "$sources" >"$stamp"
