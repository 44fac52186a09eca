#!/usr/bin/env bash
# Checks a GPU against the processor and times it, in under eight minutes; gpu_check.json holds what
# was found. On a machine without network and without our libraries it runs what was brought along.
#   scripts/gpu_check.sh --bundle     build/gpu_check: the built library, with the system libraries that
#                                     it needs, to be taken to such a machine (60 MiB at most)
#   scripts/gpu_check.sh [--out F]    on the GPU: build/gpu_check where it is there, else what is built,
#                                     else it builds
#   scripts/gpu_check.sh --dry-run    the same stages on the processor, small
# Such a machine needs Python 3.12 with numpy, and the very torch that the library was built against.
source "$(dirname "$0")/common.sh"
bundle=$build/gpu_check

# The libraries that a program needs, but for the C library's, torch's and the driver's.
needed() {
  ldd "$@" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -v -E '/(libc|libm|libdl|libpthread|librt|libutil|libresolv|libgomp[^/]*|libtorch[^/]*|libc10[^/]*|libcu[^/]*|libnv[^/]*)[.]so'
}

make_bundle() {
  rm -rf "$bundle"
  mkdir -p "$bundle/lib"
  cp -rL "$build/python" "$bundle/python"
  find "$bundle" -name __pycache__ -prune -exec rm -rf {} +
  local extensions=("$bundle"/python/facebench/*.so)
  needed "${extensions[@]}" | xargs -I{} cp -L {} "$bundle/lib/"
  find "$build/cpp" -maxdepth 1 \( -name 'libfacebench*.so.*' -o -name libfacebench_cuda.so \) \
    -exec cp -L {} "$bundle/lib/" \;
  cp "$build"/cpp/mtcnn.safetensors "$bundle/lib/"
  strip --strip-unneeded "$bundle"/lib/*.so* "${extensions[@]}"
  local size
  size=$(du -sm "$bundle" | cut -f1)
  [ "$size" -le 60 ] || die "$bundle takes $size MiB." "60 MiB is what travels: see what is large in it."
  say "$bundle: $size MiB"
}

case ${1:-} in
  --bundle)
    [ -d "$build/python/facebench" ] || die "nothing is built in $build." "Run: make build"
    make_bundle
    exit
    ;;
esac

python=$venv/bin/python
[ -x "$python" ] || python=$(command -v python3.12 || command -v python3) ||
  die "there is no Python." "It needs Python 3.12 with torch and numpy."
if [ "${1:-}" != --dry-run ] && [ -d "$bundle/python" ]; then
  export PYTHONPATH=$bundle/python LD_LIBRARY_PATH=$bundle/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
elif [ -d "$build/python/facebench" ]; then
  export PYTHONPATH=$build/python
else
  advice="It needs the libraries that scripts/system_packages.sh names; or take build/gpu_check along, which --bundle makes elsewhere."
  step "Configuring" cmake -S . -B "$build" -G Ninja -DFACEBENCH_TESTS=OFF \
    "-DPython_EXECUTABLE=$python"
  step "Building" cmake --build "$build" --parallel "$jobs" --target _eval _full
  export PYTHONPATH=$build/python
fi
"$python" -c 'import numpy, torch' ||
  die "$python lacks numpy or torch." "Install both, torch as the library was built against it."
"$python" -c 'import facebench.losses' ||
  die "the library cannot be loaded." "The lines above say why; --bundle makes build/gpu_check anew."
exec "$python" tests/device/check.py "$@"
