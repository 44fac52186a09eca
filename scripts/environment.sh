#!/usr/bin/env bash
# Makes .venv with everything that building, testing and running need. Nothing outside it is touched.
source "$(dirname "$0")/common.sh"

interpreter=$(scripts/python.sh) ||
  die "no Python of 3.11 or newer (${PYTHON:-python3.12, python3, python3.13, python3.11} tried)." \
    "Install one, or name it: make build PYTHON=/path/to/python3.12"

local_version=
[ "$TORCH" != cpu ] || TORCH=2.11.0 local_version=+cpu
torch="torch==$TORCH$local_version"
[ "$TORCH" != none ] || torch=

# With the torch that requirements.lock names: every package as it was tested, checked by its hash.
# With another one the ranges of pyproject.toml hold.
lock=requirements.lock
if [ -n "$torch" ] && grep -qF "$torch " "$lock"; then
  wanted=$(printf '%s\n' "$interpreter" "$(sha256sum "$lock")")
else
  lock=
  packages=$("$interpreter" scripts/requirements.py packages)
  alone=$("$interpreter" scripts/requirements.py alone "$TORCH")
  wanted=$(printf '%s\n' "$interpreter" "$torch" "$packages" "$alone")
fi
stamp=$venv/facebench-environment
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
  say "environment .venv: up to date"
  exit 0
fi

# Another interpreter: packages and the build's memory of it are of no use.
if [ -d "$venv" ] && ! { [ -x "$venv/bin/python" ] && grep -qxF "$interpreter" "$stamp" 2>/dev/null; }; then
  say "removing .venv, which is unfinished or was made from another interpreter"
  rm -rf "$venv"
fi
rm -f "$build/CMakeCache.txt" "$build/installed"
if [ ! -d "$venv" ]; then
  advice="Is the package that holds venv there? On Debian and Ubuntu: apt-get install python3-venv"
  step "Environment .venv from $interpreter" "$interpreter" -m venv "$venv"
  # Named at once, so that a second call goes on where an interrupted one stopped.
  printf '%s\n' "$interpreter" >"$stamp"
fi

pip() { "$venv/bin/python" -m pip install --disable-pip-version-check --no-input "$@"; }
advice="Is the network there, and is there space on the disk? Then run the same command again."
if [ -n "$local_version" ]; then
  advice="Has your package index no CPU build of torch? Name one that has it in PIP_EXTRA_INDEX_URL (pytorch.org says which), or leave TORCH=cpu away."
fi
if [ -n "$lock" ]; then
  step "Installing the packages of $lock" pip --no-deps --require-hashes --requirement "$lock"
else
  if [ -n "$torch" ]; then
    step "Installing $torch" pip "$torch"
  elif [ -d "$(echo "$venv"/lib/python3.*/site-packages/torch)" ]; then
    step "Removing torch" "$venv/bin/python" -m pip uninstall --yes torch
  fi
  readarray -t list <<<"$packages"
  step "Installing ${#list[@]} further packages" pip "${list[@]}"
  readarray -t list <<<"$alone"
  step "Installing ${list[*]}" pip --no-deps "${list[@]}"
fi
printf '%s\n' "$wanted" >"$stamp"
