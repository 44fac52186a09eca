#!/usr/bin/env bash
# Writes requirements.lock: every package of the environment with its version and the SHA-256 of its
# files, for each Python from 3.11 on. Versions that the file names stay where they fit; delete the
# file first for the newest of all. Needs uv in PATH (pip install uv).
source "$(dirname "$0")/common.sh"
command -v uv >/dev/null || die "uv is not there." "Install it (pip install uv), then run the same command again."
python=$(scripts/python.sh)
wanted=$(mktemp)
trap 'rm -f "$wanted"' EXIT
{
  echo "torch==$TORCH"
  "$python" scripts/requirements.py packages
  "$python" scripts/requirements.py alone "$TORCH"
} >"$wanted"
uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
  --output-file requirements.lock "$wanted"
say "requirements.lock: $(grep -c == requirements.lock) packages"
