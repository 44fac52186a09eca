#!/usr/bin/env bash
# Checks a GPU against the processor and times it, in under eight minutes; gpu_check.json holds what
# was found. On a machine without network and without our libraries it runs what was brought along.
#   scripts/gpu_check.sh --bundle     build/gpu_check.tar.xz: the built library, with the system
#                                     libraries that it needs, to be taken to such a machine
#   scripts/gpu_check.sh [--out F]    on the GPU: what was brought along, else what is built, else it builds
#   scripts/gpu_check.sh --only STAGE...    some stages of tests/device/check.py; those of papers
#                                     (figure_2_vgg16, ...) are run so alone, under ten minutes a call
#   scripts/gpu_check.sh --dry-run    the same stages on the processor, small
# Such a machine needs Python 3.12 with numpy, and the very torch that the library was built against.
source "$(dirname "$0")/common.sh"
bundle=$build/gpu_check

# The libraries that a program needs, but for the C library's, the compiler's, torch's and the driver's.
needed() {
  ldd "$@" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -v -E '/(libc|libm|libdl|libpthread|librt|libutil|libresolv|libstdc[+][+]|libgcc_s|libgomp[^/]*|libtorch[^/]*|libshm|libnccl|libc10[^/]*|libcu[^/]*|libnv[^/]*)[.]so'
}

make_bundle() {
  rm -rf "$bundle"
  mkdir -p "$bundle/lib"
  cp -rL "$build/python" "$bundle/python"
  find "$bundle" -name __pycache__ -prune -exec rm -rf {} +
  local extensions=("$bundle"/python/facebench/*.so)
  # What is built finds its libraries by where it lies; a copy does not.
  needed "$build"/python/facebench/*.so | xargs -I{} cp -L {} "$bundle/lib/"
  find "$build/cpp" -maxdepth 1 \( -name 'libfacebench*.so.*' -o -name libfacebench_cuda.so \) \
    -exec cp -L {} "$bundle/lib/" \;
  cp "$build"/cpp/mtcnn.safetensors "$bundle/lib/"
  strip --strip-unneeded "$bundle"/lib/*.so* "${extensions[@]}"
  tar -C "$build" -cJf "$bundle.tar.xz" gpu_check
  rm -r "$bundle"
  say "$bundle.tar.xz: $(($(stat -c %s "$bundle.tar.xz") >> 20)) MiB"
}

# Libraries of the bundle that this machine lacks: in place of its own, others would break what it has.
link_missing() {
  local file known
  known=$(ldconfig -p)
  mkdir -p "$bundle/missing"
  for file in "$bundle"/lib/*; do
    grep -q -F "$(basename "$file") " <<<"$known" || ln -sf "$file" "$bundle/missing/"
  done
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
if [ "${1:-}" != --dry-run ] && [ -f "$bundle.tar.xz" ]; then
  "$python" -m tarfile --filter data -e "$bundle.tar.xz" "$build"
  link_missing
  export PYTHONPATH=$bundle/python${PYTHONPATH:+:$PYTHONPATH}
  export LD_LIBRARY_PATH=$bundle/missing${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
elif [ -d "$build/python/facebench" ]; then
  export PYTHONPATH=$build/python
else
  advice="It needs the libraries that scripts/system_packages.sh names; or take build/gpu_check.tar.xz along, which --bundle makes elsewhere."
  step "Configuring" cmake -S . -B "$build" -G Ninja -DFACEBENCH_TESTS=OFF \
    "-DPython_EXECUTABLE=$python"
  step "Building" cmake --build "$build" --parallel "$jobs" --target _eval _full
  export PYTHONPATH=$build/python
fi
"$python" -c 'import numpy, torch' ||
  die "$python lacks numpy or torch." "Install both, torch as the library was built against it."
"$python" -c 'import facebench.losses' ||
  die "the library cannot be loaded." "The lines above say why; --bundle makes build/gpu_check.tar.xz anew."
exec "$python" tests/device/check.py "$@"
