#!/usr/bin/env bash
# Trains the paper's recipes on LFW's View 1 training people and keeps the models with their cards:
#   FACEBENCH_DATA=DATA scripts/train_baselines.sh [--minutes 30] [--least] [RECIPE...]
#   export FACEBENCH_MODELS=runs/baselines     # then: facebench run lfw --model resnet50.pytorch
# One that was stopped goes on where it was. Options: scripts/train_baselines.py --help.
source "$(dirname "$0")/common.sh"
python=$venv/bin/python
[ -x "$python" ] || die "there is no $python." "Run: make build"
[ -d "${FACEBENCH_DATA:-/nonexistent}/lfw" ] ||
  die "FACEBENCH_DATA names no folder with lfw." "Set it to the folder that holds lfw."
[ ! -d "$build/python/facebench" ] || export PYTHONPATH=$build/python
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
exec "$python" scripts/train_baselines.py "$@"
