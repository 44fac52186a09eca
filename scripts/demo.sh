#!/usr/bin/env bash
# The main job on data that the project makes itself; ends with a report.
source "$(dirname "$0")/common.sh"
started=$SECONDS
"$venv/bin/facebench" demo --out runs/demo
say "demo: done in $((SECONDS - started)) s"
