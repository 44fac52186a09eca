#!/usr/bin/env bash
# Every table and figure of Wang & Guo 2019 on drawn faces with small networks; ends with its page.
# One that was stopped goes on where it was.
source "$(dirname "$0")/common.sh"
started=$SECONDS
"$venv/bin/facebench" study wang-guo-2019 --rehearse --jobs 2 --out runs/paper --quiet ||
  say "some cells failed; the page says which"
say "paper: done in $((SECONDS - started)) s; the page is runs/paper/study.html"
