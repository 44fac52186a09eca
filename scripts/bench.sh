#!/usr/bin/env bash
# Builds and runs the benchmarks of tests/bench: kernels and the machine's limits in C++, then ours
# against the peers that people use, in an environment of their own. The figures of a busy machine
# are worth little: stop other work first.
#   scripts/bench.sh                 everything
#   scripts/bench.sh listed --pairs 9    one comparison, arguments of tests/bench/metrics_peers.py
#   scripts/bench.sh train --quick       training, arguments of tests/bench/train_peers.py
#   scripts/bench.sh detect --pairs 9    MTCNN, arguments of tests/bench/detect.py
#   scripts/bench.sh embed iresnet50     embedding, arguments of tests/bench/embed_peers.py
#   scripts/bench.sh call --beside 2    calls with few images, arguments of tests/bench/call_peers.py
#   scripts/bench.sh dlib --threads 1    dlib's networks, arguments of tests/bench/dlib_peers.py
#   scripts/bench.sh load rec tar        reading images, arguments of tests/bench/load_peers.py
#   scripts/bench.sh lfw --pairs 1       LFW from photographs, arguments of tests/bench/lfw_peers.py
source "$(dirname "$0")/common.sh"
advice="The first line with 'error' above says why."
scripts/environment.sh test
step "Building the benchmarks" cmake --build "$build" --parallel "$jobs" --target facebench_bench

peers=("faiss-cpu>=1.8" "scikit-learn>=1.4" requests tqdm pillow "onnx>=1.16" "onnxruntime>=1.18" openvino
  "pyarrow>=14" "lmdb>=1.4" "msgpack>=1" "webdataset>=0.2.86" "tfrecord>=1.14")
# facenet-pytorch asks for an old torch, ncnn for an OpenCV that it does not need.
alone=("facenet-pytorch==2.6.0" "ncnn>=1.0")
bench=$root/.venv-bench
wanted=$(printf '%s\n' "$("$venv/bin/python" --version)" "${peers[@]}" "${alone[@]}")
stamp=$bench/facebench-environment
if [ ! -f "$stamp" ] || [ "$(cat "$stamp")" != "$wanted" ]; then
  rm -rf "$bench"
  advice="Is the network there? Then run the same command again."
  step "Environment .venv-bench" "$venv/bin/python" -m venv "$bench"
  step "Installing the peers (${peers[*]})" "$bench/bin/python" -m pip install \
    --disable-pip-version-check --no-input "${peers[@]}"
  step "Installing the peers without what they ask for (${alone[*]})" "$bench/bin/python" -m pip \
    install --disable-pip-version-check --no-input --no-deps "${alone[@]}"
  # facebench itself is the one in .venv; whatever the peers brought comes first.
  site=$("$bench/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  "$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$site/facebench.pth"
  printf '%s\n' "$wanted" >"$stamp"
fi

# A shell that exports these halves the speed of OpenBLAS.
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
program=$build/tests/bench/facebench_bench
[ $# -gt 0 ] || "$program"
peers() {  # peers NAME ARGUMENT...
  local name=$1
  shift
  "$bench/bin/python" "tests/bench/${name}_peers.py" --limits "$program" --json "$build/bench/$name.json" "$@"
}
detect() {  # detect ARGUMENT...
  "$bench/bin/python" tests/bench/detect.py --limits "$program" --json "$build/bench/detect.json" "$@"
}
case ${1:-} in
  train | embed | call | detect | dlib | load | lfw)
    what=$1
    shift
    if [ "$what" = detect ]; then detect "$@"; else peers "$what" "$@"; fi
    exit
    ;;
esac
peers metrics "$@"
[ $# -eq 0 ] || exit 0
peers train
peers embed
peers call
peers call --beside 2
if [ -d "${FACEBENCH_DATA:-}/lfw/images" ]; then
  detect
  peers lfw
else
  say "MTCNN and LFW are not compared: FACEBENCH_DATA names no folder with LFW's photographs in lfw/images"
fi
