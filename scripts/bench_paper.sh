#!/usr/bin/env bash
# The papers' comparison of frameworks on this machine: time of a training and of an inference
# iteration of their networks and of the face networks, in every engine that is installed. Figures of
# a busy machine are marked.
#   scripts/bench_paper.sh quick   few steps, small batches: under 15 minutes on two cores; trains
#                                  without torch.compile, which compiles longer than all else takes
#   scripts/bench_paper.sh full    the papers' batches and iterations: hours on a CPU
# Engines besides this library and PyTorch are looked for in .venv and in .venv-engines, which
# `make engines` makes.
source "$(dirname "$0")/common.sh"
mode=${1:-quick}
shift || true
papers=(vgg16 inception_v3 resnet50 densenet121)
faces=(sphereface20 mobilefacenet)
training=facebench,pytorch,keras-tensorflow,keras-jax
inference=facebench,pytorch,pytorch-compiled,onnxruntime,keras-tensorflow,keras-jax
case $mode in
  quick)
    options=(--batch 4 --rounds 3 --skip 3 --iterations 10 --seconds 2 --limit 120)
    ;;
  full)
    faces+=(lightcnn29 centerloss iresnet18 iresnet50 inception_resnet_v1)
    training+=,pytorch-compiled
    options=(--batch 16..512 --rounds 5 --skip 10 --iterations 400 --limit 3600)
    ;;
  *) die "unknown argument '$mode'." "Say quick or full." ;;
esac
# A shell that exports these halves the speed of OpenBLAS.
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
engines=$root/.venv-engines/bin/python
if [ -x "$engines" ]; then
  for name in keras-tensorflow keras-jax; do options+=(--python "$name=$engines"); done
fi
out=$build/bench/paper-$mode
started=$SECONDS
for what in training inference; do
  flag=()
  [ "$what" = training ] || flag=(--inference)
  say "$what ..."
  "$venv/bin/facebench" bench step "${papers[@]}" "${faces[@]}" --engine "${!what}" "${flag[@]}" \
    "${options[@]}" --out "$out/$what" --overwrite "$@"
done
say "done in $((SECONDS - started)) s: $out/training/report.html, $out/inference/report.html"
