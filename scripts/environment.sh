#!/usr/bin/env bash
# Makes .venv with what building and running need. environment.sh test (lint, docs): adds what those
# need, the extra of that name in pyproject.toml. Nothing outside .venv is touched.
source "$(dirname "$0")/common.sh"
group=${1:-run}

interpreter=$(scripts/python.sh) ||
  die "no Python of 3.11 or newer (${PYTHON:-python3.12, python3, python3.13, python3.11} tried)." \
    "Install one, or name it: make build PYTHON=/path/to/python3.12"

# A GPU of NVIDIA's: the driver makes a file for each; its tool is there without them (WSL).
has_gpu() { compgen -G '/dev/nvidia[0-9]*' >/dev/null || command -v nvidia-smi >/dev/null; }

torch=$TORCH
case $TORCH in
  cpu) torch=$tested_torch+cpu ;;
  cuda) torch=$tested_torch ;;
esac
# With the torch of the locks: every package as it was tested, checked by its hash. With another one
# the ranges of pyproject.toml hold.
locks=()
if [ "$torch" = "$tested_torch" ] && [ "${LOWEST:-}" != 1 ]; then
  case $group in
    run)
      locks=(requirements.lock)
      # What torch opens only when it uses a GPU.
      if [ "$TORCH" = cuda ] || has_gpu; then locks+=(requirements-gpu.lock); fi
      ;;
    test) locks=(requirements-test.lock) ;;
  esac
fi
if [ ${#locks[@]} -gt 0 ]; then
  packages=$(sha256sum "${locks[@]}")
else
  packages=$("$interpreter" scripts/requirements.py "$group" "$torch")
fi
stamp=$venv/facebench-environment
wanted=$(printf '%s\n' "$interpreter" "$packages")
if [ "$group" != run ]; then
  [ -f "$stamp" ] || scripts/environment.sh
  stamp=$venv/facebench-$group
  wanted=$(printf '%s\n' "$(cat "$venv/facebench-environment")" "$packages")
fi
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
  [ "$group" != run ] || say "environment .venv: up to date"
  exit 0
fi

if [ "$group" = run ]; then
  # Another interpreter: its packages are of no use.
  if [ -d "$venv" ] && ! { [ -x "$venv/bin/python" ] && grep -qxF "$interpreter" "$stamp" 2>/dev/null; }; then
    say "removing .venv, which is unfinished or was made from another interpreter"
    rm -rf "$venv"
  fi
  rm -f "$build/installed"
  if [ ! -d "$venv" ]; then
    advice="Is the package that holds venv there? On Debian and Ubuntu: apt-get install python3-venv"
    step "Environment .venv from $interpreter" "$interpreter" -m venv "$venv"
    # Named at once, so that a second call goes on where an interrupted one stopped.
    printf '%s\n' "$interpreter" >"$stamp"
  fi
  if [ "$torch" = none ] && [ -d "$(echo "$venv"/lib/python3.*/site-packages/torch)" ]; then
    step "Removing torch" "$venv/bin/python" -m pip uninstall --yes torch
  fi
fi

# pip says which packages it fetches, and nothing while it unpacks them.
progress() {
  local count total=
  count=$(grep -c '^Collecting' "$1" || true)
  if grep -q '^Installing collected' "$1"; then
    echo "$(find "$venv"/lib/python3.*/site-packages -maxdepth 1 -name '*.dist-info' | wc -l) packages in place"
  elif [ "$count" -gt 0 ]; then
    [ ${#locks[@]} -eq 0 ] ||
      total=" of $(($(cat "${locks[@]}" | grep -c ==) - $(grep -c '^Ignoring' "$1" || true)))"
    echo "package $count$total, $(grep '^Collecting' "$1" | tail -n 1 | cut -d' ' -f2)"
  fi
}
pip() { "$venv/bin/python" -m pip install --disable-pip-version-check --no-input "$@"; }
advice="Is the network there, and is there space on the disk? Then run the same command again."
if [ "$TORCH" = cpu ]; then
  advice="Has your package index no CPU build of torch? Name one that has it in PIP_EXTRA_INDEX_URL (pytorch.org says which), or leave TORCH=cpu away."
fi
# Byte code of all that torch brings takes 25 s, of what is imported 5.
options=(--no-compile)
[ "$group" = run ] || options=()
if [ ${#locks[@]} -gt 0 ]; then
  step "Installing the packages of ${locks[*]}" pip "${options[@]}" --no-deps --require-hashes "${locks[@]/#/--requirement=}"
else
  readarray -t list <<<"$packages"
  step "Installing ${#list[@]} packages and what they need" pip "${options[@]}" "${list[@]}"
fi
if [ "$group" = run ]; then
  step "Trying the environment" env PYTHONDONTWRITEBYTECODE= "$venv/bin/python" -c "import jinja2, matplotlib.pyplot, numpy, pandas, rich.console, safetensors.numpy, click
if '$torch' != 'none': import torch, safetensors.torch"
fi
printf '%s\n' "$wanted" >"$stamp"
